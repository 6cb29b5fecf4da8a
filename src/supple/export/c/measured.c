//@ part measure

int @prefix@_measure(const @prefix@_parameters *parameters, const double state[@states@],
    @inputs@double outputs[@outputs@])
{
@measure@}
//@ part plain
    (void)parameters;
@unused@    return @prefix@_outputs(state, outputs);
//@ part observed
    const @prefix@_parameters *const p = parameters ? parameters : &standard;
    double accelerations[SIZE] = {0.0};
@accelerate@    return observe(p, state, state + SIZE, accelerations, @pass@outputs);
//@ part accelerate
    const int flag = accelerate(p, state, state + SIZE, @pass@accelerations);
    if (flag == @UPPER@_INDEFINITE) return flag;
//@ part jacobian

int @prefix@_output_jacobian(const @prefix@_parameters *parameters, const double state[@states@], @inputs@
    double outputs[@outputs@], double C[@outputs@][@states@]@D@)
{
@declared@
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
@body@
    return flag;
}
//@ part gradient
    for (k = 0; k < AXES; ++k)
        for (q = 0; q < 3; ++q) {
            double fitted[@width@];
            for (i = 0; i < @width@; ++i) fitted[i] = 0.0;
@combine@
            for (i = 0; i < MEASURED; ++i) G[q][i][k] = fitted[i];
        }
//@ part gradient_modes
    for (k = 0; k < AXES; ++k) {
        double shape[3][@width@];
        for (q = 0; q < 3; ++q) {
@combine@
        }
        for (i = 0; i < MEASURED; ++i)
            for (j = AXES; j < SIZE; ++j) {
                const int at_mode = i * (SIZE - AXES) + j - AXES;
                G[0][i][k] += shape[0][at_mode] * state[j];
                G[1][i][k] += shape[1][at_mode] * state[j] + shape[0][at_mode] * v[j];
                G[2][i][k] += shape[2][at_mode] * state[j] + 2.0 * shape[1][at_mode] * v[j] + shape[0][at_mode] * a[j];
            }
    }
