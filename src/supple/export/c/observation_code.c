//@ part observe

static int observe(const @prefix@_parameters *p, @given@)
{
    double at[AXES];
    int flag;
    const int leaf = place(@x@, at, &flag);
    double X[3][FITTED], x[3][@all@];
    @arrays@
//@ if modes
    double modes[3][@modes@];
//@ end
//@ if efforts
    double rows[@numbers@], depends[@width@];
//@ if friction
    double slides[@friction@], steep;
//@ end
//@ end
//@ if counters
    int @counters@;
//@ end
    const double *row;
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    @fit@
    along(g, dg, ddg, rates, accelerations, X);
@body@    return flag;
}

int @prefix@_observe(@given@)
{
    double y[@UPPER@_OUTPUTS];
    int i, flag;
    flag = observe(&standard, @x@, rates, accelerations, @pass@y);
    if (flag && flag != @UPPER@_CLAMPED) return flag;
    if (!all_finite(@x@, SIZE) || !all_finite(rates, SIZE) || !all_finite(accelerations, SIZE)) return @UPPER@_UNDEFINED;
//@ if pass
    if (!all_finite(inputs, INPUTS)) return @UPPER@_UNDEFINED;
//@ end
    if (!all_finite(y, @UPPER@_OUTPUTS)) return @UPPER@_UNDEFINED;
    for (i = 0; i < @UPPER@_OUTPUTS; ++i) outputs[i] = y[i];
    return flag;
}
//@ part modes
    for (i = 0; i < @measures@; ++i)
        for (j = AXES; j < SIZE; ++j) {
            const int mode = i * (SIZE - AXES) + j - AXES;
            x[0][i] += modes[0][mode] * @x@[j];
            x[1][i] += modes[1][mode] * @x@[j] + modes[0][mode] * rates[j];
            x[2][i] += modes[2][mode] * @x@[j] + 2.0 * modes[1][mode] * rates[j] + modes[0][mode] * accelerations[j];
        }
//@ part efforts
//@ if fitted
    @fit_inner@
    spread(g, 0, STORED, X[0]);
//@ end
@rows@    depends[0] = 1.0;
//@ if elastic
    for (i = AXES; i < SIZE; ++i) depends[@at_modes@ + i - AXES] = @x@[i];
//@ end
//@ if inputs
    for (i = 0; i < INPUTS; ++i) depends[@at_inputs@ + i] = inputs[i];
//@ end
    for (i = 0; i < SIZE; ++i) {
        depends[@at_accelerations@ + i] = accelerations[i];
        depends[@at_rates@ + i] = rates[i];
    }
@turning@@slides@    for (i = 0; i < @efforts@; ++i) {
        x[0][@measures@ + i] = 0.0;
        for (j = 0; j < @width@; ++j)
            x[0][@measures@ + i] += rows[i * @width@ + j] * depends[j];
    }
