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
/* What functions return. */
enum { @UPPER@_ANSWERED = 0, @UPPER@_OUTSIDE = 1, @UPPER@_CLAMPED = 2 };

@indices@
/* What the law remembers from sample to sample. */
typedef struct {
    double x[@states@];
} @prefix@_state;

/* Before the first sample; applied: the command in force. */
int @prefix@_start(@prefix@_state *state, @arguments@);

/* At every sample; applied: the command of the sample before, as drives applied it; answer: until the next one. */
int @prefix@_step(@prefix@_state *state, @arguments@, double answer[@UPPER@_ANSWERS]);

#ifdef __cplusplus
}
#endif

#endif /* @UPPER@_H */
