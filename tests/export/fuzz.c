/* Calls functions with one bad number among good ones, and checks their contract: an argument that is NaN or infinite is
   refused, what is refused changes nothing, and what is not refused gives finite numbers. Prints violations. The file
   `cases.h` defines the functions; see test_total_functions.py. */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef REAL real;

typedef struct {
    const char *name;
    int (*call)(real *given, real *found); /* 0 for success, else a status */
    int given, found, copied; /* counts of numbers; the first `copied` results are arguments that the function changes */
    const real *low, *high; /* good arguments */
    int free, until;        /* arguments from `free` to `until` may be infinite */
    int partial;            /* a status that changes results, or 0 */
} function;

#include "cases.h"

enum { MOST = 4096, ROUNDS = 600 };

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static int infinite(real value)
{
    return !(value - value <= 0);
}

int main(void)
{
    static real given[MOST], found[MOST], before[MOST];
    const double largest = sizeof(real) == 4 ? (double)FLT_MAX : DBL_MAX;
    const double bad[] = {NAN, INFINITY, -INFINITY, largest, -largest, 1e200, -1e30, 1e15, -1e9, 0.0, 1e-310, -1.0};
    int f, k, i;
    for (f = 0; f < (int)(sizeof functions / sizeof functions[0]); ++f) {
        const function *it = functions + f;
        int accepted = 0;
        const char *wrong = NULL;
        for (k = 0; k < ROUNDS && !wrong; ++k) {
            int flag, at = -1, refuse = 0;
            for (i = 0; i < it->given; ++i) given[i] = (real)(it->low[i] + uniform() * (it->high[i] - it->low[i]));
            if (k % 8) {
                const double value = bad[k % (int)(sizeof bad / sizeof bad[0])];
                at = (int)(uniform() * it->given);
                given[at] = value > largest && value < INFINITY ? (real)INFINITY : (real)value;
                refuse = infinite(given[at]) && (at < it->free || at >= it->until || given[at] != given[at]);
            }
            for (i = 0; i < it->found; ++i) found[i] = (real)(12345 + i);
            memcpy(found, given, (size_t)it->copied * sizeof(real));
            memcpy(before, found, sizeof found);
            flag = it->call(given, found);
            if (flag && flag != it->partial) {
                if (memcmp(before, found, (size_t)it->found * sizeof(real))) wrong = "changes results";
                if (at < 0) wrong = "refuses good arguments";
                continue;
            }
            ++accepted;
            if (refuse) wrong = "accepts NaN or infinity";
            for (i = 0; i < it->found; ++i)
                if (infinite(found[i])) wrong = "gives NaN or infinity";
            if (wrong) fprintf(stderr, "%s: argument %d is %g, status %d\n", it->name, at, (double)given[at], flag);
        }
        printf("%s: %s\n", it->name, wrong ? wrong : "total");
        if (accepted < ROUNDS / 8) printf("%s: accepts only %d\n", it->name, accepted);
    }
    return 0;
}
