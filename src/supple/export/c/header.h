//@ part whole
/*
@introduction@
 */

#ifndef @UPPER@_H
#define @UPPER@_H

#ifdef __cplusplus
extern "C" {
#endif

@sizes@
/* Outside its region a model has no coefficients: functions say so and leave results as they were. With 1
 * they take those at the nearest point of the region instead, and say that. */
#ifndef @UPPER@_CLAMP
#define @UPPER@_CLAMP 0
#endif

/* What every function returns. Results are there with INSIDE and CLAMPED only; UNDEFINED: a step that gave
 * no finite numbers. */
enum { @UPPER@_INSIDE = 0, @UPPER@_OUTSIDE = 1, @UPPER@_INDEFINITE = 2, @UPPER@_CLAMPED = 3, @UPPER@_UNDEFINED = 4,
    @UPPER@_UNMET = 5 };

@sections@
@indices@@structure@
@parameters@
/*
 * All functions return @UPPER@_INSIDE, or @UPPER@_OUTSIDE where theta lies outside the region (also if it is not
 * a number): the results are then left as they were. All may be called from several threads at once.
 */

//@ if bent
/* All coefficients; M and its gradient at theta and delta. */
//@ else
/* All coefficients at theta. */
//@ end
int @prefix@_coefficients(const double @argument@, @prefix@_model *model);

/* The fitted columns as they are, symmetric matrices by their upper triangles, row by row: the fastest. */
int @prefix@_columns(const double theta[@UPPER@_THETA], double values[@UPPER@_COLUMNS]);

/* Generalized forces that a motion needs from the inputs, B u = forces: N along m, N m along rad. */
int @prefix@_inverse(const double @x@[@n@], const double rates[@n@],
    const double accelerations[@n@], double forces[@n@]);

/* Accelerations under given inputs; @UPPER@_INDEFINITE where M is not positive definite. */
//@ if inputs
int @prefix@_forward(const double @x@[@n@], const double rates[@n@],
    const double inputs[@UPPER@_INPUTS], double accelerations[@n@]);
//@ else
int @prefix@_forward(const double @x@[@n@], const double rates[@n@], double accelerations[@n@]);
//@ end

//@ if observed
/* Outputs of a motion under given inputs: with rates, accelerations and forces inside. */
int @prefix@_observe(const double @x@[@n@], const double rates[@n@],
    const double accelerations[@n@]@given_inputs@, double outputs[@UPPER@_OUTPUTS]);

//@ end
//@ if outputs
//@ if elastic
/* Outputs, and their rates of change (at delta = 0). */
//@ else
/* Outputs and their rates of change. */
//@ end
int @prefix@_outputs(const double @x@[@n@], double outputs[@UPPER@_OUTPUTS]);
int @prefix@_output_rates(const double @x@[@n@], const double rates[@n@],
    double output_rates[@UPPER@_OUTPUTS]);

//@ end
/* parameters: null for the model's own. */
void @prefix@_defaults(@prefix@_parameters *parameters);

//@ if family
/* Sets mu, and what is made of it, in parameters that @prefix@_defaults began: once before many calls, or
 * between any two. @UPPER@_OUTSIDE where a value lies outside its range or is no number: they then stay as
 * they were. With @UPPER@_CLAMP the nearest are set, and @UPPER@_CLAMPED is returned. No other thread may use
 * the same parameters meanwhile. */
int @prefix@_set_parameters(@prefix@_parameters *parameters, const double mu[@UPPER@_PARAMETERS]);

//@ end
//@ if inputs
/* dx/dt = f(x, u), and its Jacobians A = df/dx and B = df/du. */
//@ else
/* dx/dt = f(x), and A = df/dx. */
//@ end
int @prefix@_derivative(const @prefix@_parameters *parameters, const double state[@UPPER@_STATES],
    @u@double rate[@UPPER@_STATES]);
int @prefix@_jacobian(const @prefix@_parameters *parameters, const double state[@UPPER@_STATES],
    @u@double rate[@UPPER@_STATES], double A[@UPPER@_STATES][@UPPER@_STATES]@B@);

//@ if measured
/* All outputs y = g(x, u) at a state, and C = dg/dx, D = dg/du. */
int @prefix@_measure(const @prefix@_parameters *parameters, const double state[@UPPER@_STATES],
    @u@double outputs[@UPPER@_OUTPUTS]);
int @prefix@_output_jacobian(const @prefix@_parameters *parameters, const double state[@UPPER@_STATES],
    @u@double outputs[@UPPER@_OUTPUTS],
    double C[@UPPER@_OUTPUTS][@UPPER@_STATES]@D@);

//@ end
//@ if divided
/* Inputs with B u = forces along theta, of the least sum of weights times squares, within bounds. Null:
 * all weights one, no bounds. An input that shall stay out has bounds of zero. UNMET: the bounds do not
 * allow it; inputs are then within them, and as close as was found. */
int @prefix@_divide(const double theta[@UPPER@_THETA], const double forces[@UPPER@_THETA], const double *weights,
    const double *lower, const double *upper, double inputs[@UPPER@_INPUTS]);

//@ end
/* One step with inputs held: Runge-Kutta's of order 4; and Rosenbrock's of order 3, L-stable, for stiff
 * models. The state is left as it was unless the step was done. Both take the same operations each time. */
int @prefix@_step_explicit(const @prefix@_parameters *parameters, double state[@UPPER@_STATES],
    @u@double step);
int @prefix@_step_implicit(const @prefix@_parameters *parameters, double state[@UPPER@_STATES],
    @u@double step);

#ifdef __cplusplus
}
#endif

#endif /* @UPPER@_H */
