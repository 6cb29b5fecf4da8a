/* An instance of the FMU, independent of the FMI version: variables by value reference, derivatives, steps.

   Value references: 0 time, then states, their derivatives, inputs, outputs and parameters, numbered consecutively. */

#ifndef INSTANCE_H
#define INSTANCE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

/* Arguments by which the functions of the unit take parameters. */
#ifdef UNIT_PREPARED
#define GIVEN(c) (c)->now.p, &(c)->made
#else
#define GIVEN(c) (c)->now.p
#endif

enum { FIRST_X = 1, FIRST_DX = FIRST_X + NX, FIRST_U = FIRST_DX + NX, FIRST_Y = FIRST_U + NU, FIRST_P = FIRST_Y + NY,
       REFERENCES = FIRST_P + NP };

/* All variable data. Arrays have one element more, since an array cannot be empty in C. */
typedef struct {
    double time, x[NX + 1], u[NU + 1], p[NP + 1], memory[NM + 1];
    int32_t begun;
} values_t;

/* A serialized state, with the token of the FMU to reject bytes of other FMUs. */
typedef struct {
    char token[64];
    values_t values;
} serialized_t;

typedef struct {
    values_t now;
    double dx[NX + 1], y[NY + 1]; /* at `now`, if known is set */
    int known_dx, known_y;
#ifdef UNIT_PREPARED
    unit_prepared made; /* for the parameters at `now`, if known_p is set */
    int known_p;
#endif
    int co_simulation, event_mode;
    double reached; /* end time of the last co-simulation step */
    void *environment;
    void (*say)(void *instance, int worst, const char *message);
    void *logger;
    int logging;
    char name[128];
} instance_t;

enum { FINE = 0, DISCARDED = 2, WRONG = 3 }; /* values of the FMI status types */

/* Call when parameters may have changed. */
static void renewed(instance_t *c)
{
#ifdef UNIT_PREPARED
    c->known_p = 0;
#else
    (void)c;
#endif
}

static void begin(instance_t *c)
{
    memset(&c->now, 0, sizeof c->now);
    memcpy(c->now.x, unit_start_x, sizeof(double) * NX);
    memcpy(c->now.u, unit_start_u, sizeof(double) * NU);
    memcpy(c->now.p, unit_start_p, sizeof(double) * NP);
    c->known_dx = c->known_y = 0;
    c->reached = 0.0;
    renewed(c);
}

static instance_t *made(const char *name, const char *token, int co_simulation)
{
    instance_t *c;
    if (!token || strcmp(token, TOKEN) != 0) return NULL;
    c = (instance_t *)calloc(1, sizeof *c);
    if (!c) return NULL;
    strncpy(c->name, name ? name : "", sizeof c->name - 1);
    c->co_simulation = co_simulation;
    begin(c);
    return c;
}

static int said(instance_t *c, int status, const char *message)
{
    if (c->say) c->say(c, status, message);
    return status;
}

/* Updates the quantities that depend on parameters, if they are not up to date. */
static int prepared(instance_t *c)
{
#ifdef UNIT_PREPARED
    if (!c->known_p) {
        const int flag = unit_prepare(c->now.p, &c->made);
        if (flag) return said(c, WRONG, unit_message(flag));
        c->known_p = 1;
    }
#else
    (void)c;
#endif
    return FINE;
}

/* Checks parameter values; none is set unless all are allowed. */
static int allowed(instance_t *c, const uint32_t *references, size_t count, const double *values)
{
#ifdef UNIT_PREPARED
    size_t i;
    for (i = 0; i < count; ++i) {
        const char *message = NULL;
        if (references[i] >= FIRST_P && references[i] < REFERENCES)
            message = unit_refused((int)(references[i] - FIRST_P), values[i]);
        if (message) return said(c, WRONG, message);
        if (references[i] >= FIRST_P) c->known_p = 0;
    }
#else
    (void)c, (void)references, (void)count, (void)values;
#endif
    return FINE;
}

/* Refuses states, inputs and parameters that are NaN or infinite, by name. */
static int finite_values(instance_t *c)
{
    const double *const known[3] = {c->now.x, c->now.u, c->now.p};
    const char *const kinds[3] = {"state", "input", "parameter"};
    const int counts[3] = {NX, NU, NP};
    char text[320];
    int kind, i, at = 0;
    for (kind = 0; kind < 3; ++kind)
        for (i = 0; i < counts[kind]; ++i, ++at) {
            const double value = known[kind][i];
            if (value - value <= 0.0) continue;
            sprintf(text, "%s %.200s is not a finite number (got %g)", kinds[kind], unit_names[at], value);
            return said(c, DISCARDED, text);
        }
    return FINE;
}

/* Reports a failed evaluation; names a state outside its region. */
static int failed(instance_t *c, int flag)
{
    char text[400];
    int i;
    for (i = 0; i < NX; ++i) {
        const double value = c->now.x[i];
        if (value >= unit_region[0][i] && value <= unit_region[1][i]) continue;
        sprintf(text, "state %.200s = %.9g lies outside the region of the model, %.9g to %.9g", unit_names[i], value,
            unit_region[0][i], unit_region[1][i]);
        return said(c, DISCARDED, text);
    }
    return said(c, DISCARDED, unit_message(flag));
}

static int changed(instance_t *c)
{
    c->known_dx = c->known_y = 0;
    return FINE;
}

static int derivatives(instance_t *c)
{
    int flag;
    if (c->known_dx) return FINE;
    if (prepared(c) != FINE) return WRONG;
    if (finite_values(c) != FINE) return DISCARDED;
    flag = unit_derivative(GIVEN(c), c->now.x, c->now.u, c->dx);
    if (flag) return failed(c, flag);
    c->known_dx = 1;
    return FINE;
}

static int outputs(instance_t *c)
{
    int flag;
    if (c->known_y) return FINE;
    if (prepared(c) != FINE) return WRONG;
    if (finite_values(c) != FINE) return DISCARDED;
    flag = unit_outputs(GIVEN(c), c->now.x, c->now.u, c->now.memory, c->now.time, c->y);
    if (flag) return failed(c, flag);
    c->known_y = 1;
    return FINE;
}

static int get_values(instance_t *c, const uint32_t *references, size_t count, double *values)
{
    size_t i;
    for (i = 0; i < count; ++i) {
        const uint32_t at = references[i];
        int status = FINE;
        if (at == 0) values[i] = c->now.time;
        else if (at < FIRST_DX) values[i] = c->now.x[at - FIRST_X];
        else if (at < FIRST_U) {
            status = derivatives(c);
            values[i] = c->dx[at - FIRST_DX];
        } else if (at < FIRST_Y) values[i] = c->now.u[at - FIRST_U];
        else if (at < FIRST_P) {
            status = outputs(c);
            values[i] = c->y[at - FIRST_Y];
        } else if (at < REFERENCES) values[i] = c->now.p[at - FIRST_P];
        else return said(c, WRONG, "unknown value reference");
        if (status != FINE) return status;
    }
    return FINE;
}

static int set_values(instance_t *c, const uint32_t *references, size_t count, const double *values)
{
    size_t i;
    if (allowed(c, references, count, values) != FINE) return WRONG;
    for (i = 0; i < count; ++i) {
        const uint32_t at = references[i];
        if (at >= FIRST_X && at < FIRST_DX) c->now.x[at - FIRST_X] = values[i];
        else if (at >= FIRST_U && at < FIRST_Y) c->now.u[at - FIRST_U] = values[i];
        else if (at >= FIRST_P && at < REFERENCES) c->now.p[at - FIRST_P] = values[i];
        else return said(c, WRONG, "only states, inputs and parameters can be set");
    }
    return changed(c);
}

/* sensitivity += d(unknown)/d(known) seed, or its transpose if adjoint. */
static int sensitivities(instance_t *c, const uint32_t *unknowns, size_t many, const uint32_t *knowns, size_t few,
    const double *seed, double *sensitivity, int adjoint)
{
    double A[(NX + 1) * (NX + 1)], B[(NX + 1) * (NU + 1)], C[(NY + 1) * (NX + 1)], D[(NY + 1) * (NU + 1)];
    size_t i, j;
    int flag;
    if (prepared(c) != FINE) return WRONG;
    if (finite_values(c) != FINE) return DISCARDED;
    flag = unit_jacobian(GIVEN(c), c->now.x, c->now.u, A, B, C, D);
    if (flag == UNIT_WITHOUT) return said(c, WRONG, "the FMU has no directional derivatives");
    if (flag) return failed(c, flag);
    for (i = 0; i < (adjoint ? few : many); ++i) sensitivity[i] = 0.0;
    for (i = 0; i < many; ++i)
        for (j = 0; j < few; ++j) {
            const uint32_t row = unknowns[i], column = knowns[j];
            const int dx = row >= FIRST_DX && row < FIRST_U, y = row >= FIRST_Y && row < FIRST_P;
            const int x = column >= FIRST_X && column < FIRST_DX, u = column >= FIRST_U && column < FIRST_Y;
            double slope;
            if (!(dx || y) || !(x || u))
                return said(c, WRONG, "only state derivatives and outputs can be differentiated, by states and inputs");
            if (dx) slope = x ? A[(row - FIRST_DX) * NX + column - FIRST_X] : B[(row - FIRST_DX) * NU + column - FIRST_U];
            else slope = x ? C[(row - FIRST_Y) * NX + column - FIRST_X] : D[(row - FIRST_Y) * NU + column - FIRST_U];
            if (adjoint) sensitivity[j] += slope * seed[i];
            else sensitivity[i] += slope * seed[j];
        }
    return FINE;
}

/* Advances by one co-simulation step with constant inputs. */
static int advance(instance_t *c, double from, double step)
{
    int flag;
    if (!(step > 0.0) || !(step - step <= 0.0)) return said(c, WRONG, "the communication step size must be a positive number");
    if (prepared(c) != FINE) return WRONG;
    if (finite_values(c) != FINE) return DISCARDED;
    c->now.time = from;
    flag = unit_advance(GIVEN(c), c->now.x, c->now.u, c->now.memory, &c->now.time, from + step);
    c->reached = c->now.time;
    changed(c);
    return flag ? failed(c, flag) : FINE;
}

static int start_time(instance_t *c, double time)
{
    c->now.time = c->reached = time;
    return changed(c);
}

static int initialized(instance_t *c)
{
    if (prepared(c) != FINE) return WRONG;
    c->now.begun = 1;
    unit_begin(GIVEN(c), c->now.x, c->now.u, c->now.memory, c->now.time);
    return changed(c);
}

/* Copies the state out of the instance. */
static int keep(instance_t *c, void **state)
{
    if (!*state) *state = malloc(sizeof(values_t));
    if (!*state) return said(c, WRONG, "out of memory");
    memcpy(*state, &c->now, sizeof(values_t));
    return FINE;
}

static int restore(instance_t *c, const void *state)
{
    if (!state) return said(c, WRONG, "the state is a null pointer");
    memcpy(&c->now, state, sizeof(values_t));
    c->reached = c->now.time;
    renewed(c);
    return changed(c);
}

static int serialize(instance_t *c, const void *state, void *bytes, size_t size)
{
    serialized_t out;
    if (!state || size < sizeof out) return said(c, WRONG, "the buffer is too small for the state");
    memset(&out, 0, sizeof out);
    strncpy(out.token, TOKEN, sizeof out.token - 1);
    memcpy(&out.values, state, sizeof(values_t));
    memcpy(bytes, &out, sizeof out);
    return FINE;
}

static int deserialize(instance_t *c, const void *bytes, size_t size, void **state)
{
    serialized_t in;
    if (size != sizeof in) return said(c, WRONG, "the bytes are not a state of this FMU");
    memcpy(&in, bytes, sizeof in);
    if (strncmp(in.token, TOKEN, sizeof in.token) != 0) return said(c, WRONG, "the bytes are not a state of this FMU");
    if (!*state) *state = malloc(sizeof(values_t));
    if (!*state) return said(c, WRONG, "out of memory");
    memcpy(*state, &in.values, sizeof(values_t));
    return FINE;
}

#endif
