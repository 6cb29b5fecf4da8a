//@ part template
/*
@introduction@
 */

#ifndef @UPPER@_H
#define @UPPER@_H

#ifdef __cplusplus
extern "C" {
#endif

@sizes@

@sections@
/* Return values. State and answer change only for ANSWERED and CLAMPED. CLAMPED: scheduling variables are outside the
 * region of the law, and the nearest matrices are used. OUTSIDE: there is no fit at this point. UNDEFINED: an argument,
 * or a result, is NaN or infinite. Do not compile with -ffast-math, which assumes that there is no NaN. */
enum { @UPPER@_ANSWERED = 0, @UPPER@_OUTSIDE = 1, @UPPER@_CLAMPED = 2, @UPPER@_UNDEFINED = 3 };

@indices@
/* State of the controller, kept from sample to sample. */
typedef struct {
    double x[@states@];
} @prefix@_state;

/* Initializes the state before the first sample. applied: present command. */
int @prefix@_start(@prefix@_state *state, @arguments@);

/* Computes one sample. applied: previous command as the drives applied it; answer: new command, held until the next one. */
int @prefix@_step(@prefix@_state *state, @arguments@, double answer[@UPPER@_ANSWERS]);

#ifdef __cplusplus
}
#endif

#endif /* @UPPER@_H */
