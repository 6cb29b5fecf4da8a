//@ part values

int @prefix@_outputs(const double @x@[@UPPER@_COORDINATES], double outputs[@UPPER@_OUTPUTS])
{
    double at[AXES], y[OUTPUTS];
    int flag;
//@ if fitted
    @arrays_0@
    const int leaf = place(@x@, at, &flag);
    double F[FITTED];
//@ end
//@ if modes
    int i, j;
//@ else
    int i;
//@ end
//@ if fitted
    const double *row;
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    @fit_0@
    spread(g, OUTPUTS_FROM, OUTPUTS_TO, F);
//@ else
    if (place(@x@, at, &flag) == NOWHERE) return @UPPER@_OUTSIDE;
//@ end
    for (i = 0; i < OUTPUTS; ++i) {
        double sum = (@outputs@)[i];
//@ if modes
        for (j = AXES; j < SIZE; ++j)
            sum += (@modes@)[i * (SIZE - AXES) + j - AXES] * @x@[j];
//@ end
        y[i] = sum;
    }
    if (!all_finite(@x@, SIZE) || !all_finite(y, OUTPUTS)) return @UPPER@_UNDEFINED;
    for (i = 0; i < OUTPUTS; ++i) outputs[i] = y[i];
    return flag;
}
//@ part rates

int @prefix@_output_rates(const double @x@[@UPPER@_COORDINATES], const double rates[@UPPER@_COORDINATES], double output_rates[@UPPER@_OUTPUTS])
{
    double at[AXES], y[OUTPUTS];
    int flag;
//@ if fitted
    @arrays_1@
    const int leaf = place(@x@, at, &flag);
    double F[FITTED];
//@ end
//@ if counted
    int i, j;
//@ else
    int i;
//@ end
//@ if fitted
    const double *row;
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    @fit_1@
//@ else
    if (place(@x@, at, &flag) == NOWHERE) return @UPPER@_OUTSIDE;
//@ end
    for (i = 0; i < OUTPUTS; ++i) y[i] = 0.0;
//@ if fitted_outputs
    for (j = 0; j < AXES; ++j) {
        spread(dg[j], OUTPUTS_FROM, OUTPUTS_TO, F);
        for (i = 0; i < OUTPUTS; ++i) y[i] += (@outputs@)[i] * rates[j];
    }
//@ end
//@ if fitted_modes
    spread(g, OUTPUTS_FROM, OUTPUTS_TO, F);
//@ end
//@ if modes
    for (i = 0; i < OUTPUTS; ++i)
        for (j = AXES; j < SIZE; ++j)
            y[i] += (@modes@)[i * (SIZE - AXES) + j - AXES] * rates[j];
//@ end
    if (!all_finite(@x@, SIZE) || !all_finite(rates, SIZE) || !all_finite(y, OUTPUTS)) return @UPPER@_UNDEFINED;
    for (i = 0; i < OUTPUTS; ++i) output_rates[i] = y[i];
    return flag;
}
