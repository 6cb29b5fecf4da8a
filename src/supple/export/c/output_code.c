//@ part measure

int @prefix@_measure(const @prefix@_parameters *parameters, const double state[@UPPER@_STATES],
    @inputs@double outputs[@UPPER@_OUTPUTS])
{
//@ if observed
    const @prefix@_parameters *const p = parameters ? parameters : &standard;
    double accelerations[SIZE] = {0.0};
//@ end
    double y[@UPPER@_OUTPUTS];
    int i, flag;
//@ if observed
//@ if instant
    flag = checked(accelerate(p, state, state + SIZE, @pass@accelerations), @pass@state);
    if (flag && flag != @UPPER@_CLAMPED) return flag;
//@ end
    flag = observe(p, state, state + SIZE, accelerations, @pass@y);
//@ else
    (void)parameters;
//@ if inputs
    (void)inputs;
//@ end
    flag = @prefix@_outputs(state, y);
//@ end
    if (flag && flag != @UPPER@_CLAMPED) return flag;
    if (!all_finite(state, @UPPER@_STATES) || !all_finite(y, @UPPER@_OUTPUTS)) return @UPPER@_UNDEFINED;
    for (i = 0; i < @UPPER@_OUTPUTS; ++i) outputs[i] = y[i];
    return flag;
}

static int slopes_of_outputs(const @prefix@_parameters *parameters, const double state[@UPPER@_STATES], @inputs@
    double outputs[@UPPER@_OUTPUTS], double C[@UPPER@_OUTPUTS][@UPPER@_STATES]@D@)
{
@body@    return flag;
}

int @prefix@_output_jacobian(const @prefix@_parameters *parameters, const double state[@UPPER@_STATES], @inputs@
    double outputs[@UPPER@_OUTPUTS], double C[@UPPER@_OUTPUTS][@UPPER@_STATES]@D@)
{
    double y[@UPPER@_OUTPUTS], y_x[@UPPER@_OUTPUTS][@UPPER@_STATES];
//@ if inputs
    double y_u[@UPPER@_OUTPUTS][INPUTS];
//@ end
    int i, j, flag;
    flag = slopes_of_outputs(parameters, state, @pass@y, y_x@y_u@);
    if (flag && flag != @UPPER@_CLAMPED) return flag;
    if (!all_finite(state, @UPPER@_STATES)) return @UPPER@_UNDEFINED;
    if (!all_finite(y, @UPPER@_OUTPUTS) || !all_finite(&y_x[0][0], @UPPER@_OUTPUTS * @UPPER@_STATES)) return @UPPER@_UNDEFINED;
//@ if inputs
    if (!all_finite(&y_u[0][0], @UPPER@_OUTPUTS * INPUTS)) return @UPPER@_UNDEFINED;
//@ end
    for (i = 0; i < @UPPER@_OUTPUTS; ++i) {
        outputs[i] = y[i];
        for (j = 0; j < @UPPER@_STATES; ++j) C[i][j] = y_x[i][j];
//@ if inputs
        for (j = 0; j < INPUTS; ++j) D[i][j] = y_u[i][j];
//@ end
    }
    return flag;
}
//@ part plain
    @arrays_1@
    double at[AXES], F[FITTED];
    const double *row;
    int i, j, k, flag;
    const int leaf = place(state, at, &flag);
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    (void)parameters;
    i = @prefix@_outputs(state, outputs);
    if (i && i != @UPPER@_CLAMPED) return i;
    @fit_1@
    for (i = 0; i < OUTPUTS; ++i) {
        for (j = 0; j < @UPPER@_STATES; ++j) C[i][j] = 0.0;
//@ if inputs
        for (j = 0; j < INPUTS; ++j) D[i][j] = 0.0;
//@ end
    }
    for (k = 0; k < AXES; ++k) {
        if (HELD(k, at, state)) continue;
        spread(dg[k], OUTPUTS_FROM, OUTPUTS_TO, F);
//@ if fitted_outputs
        for (i = 0; i < OUTPUTS; ++i) C[i][k] = (@outputs@)[i];
//@ end
//@ if fitted_modes
        for (i = 0; i < OUTPUTS; ++i)
            for (j = AXES; j < SIZE; ++j)
                C[i][k] += (@modes@)[i * (SIZE - AXES) + j - AXES] * state[j];
//@ end
    }
//@ if modes
//@ if fitted_modes
    spread(g, OUTPUTS_FROM, OUTPUTS_TO, F);
//@ end
    for (i = 0; i < OUTPUTS; ++i)
        for (j = AXES; j < SIZE; ++j) C[i][j] = (@modes@)[i * (SIZE - AXES) + j - AXES];
//@ end
//@ if inputs
    (void)inputs;
//@ end
//@ part observed
    const @prefix@_parameters *const p = parameters ? parameters : &standard;
    const double *row, *const v = state + SIZE;
    @arrays_3@
    double at[AXES], X[3][FITTED], Y[AXES][3][FITTED];
    double A[@UPPER@_STATES][@UPPER@_STATES], rate[@UPPER@_STATES], x[3][@all@], G[3][@all@][SIZE];
    double by_v[@all@][SIZE], by_a[@all@][SIZE], *const a = rate + SIZE;
//@ if inputs
    double B[@UPPER@_STATES][@UPPER@_INPUTS], by_u[@all@][@UPPER@_INPUTS];
//@ end
    int i, j, k, q, flag;
    const int leaf = place(state, at, &flag);
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    flag = @prefix@_jacobian(p, state, @pass@rate, A@pass_B@);
    if (flag && flag != @UPPER@_CLAMPED) return flag;
    @fit_3@
    along(g, dg, ddg, v, a, X);
    gradients_along(dg, ddg, dddg, v, a, Y);
    for (i = 0; i < @all@; ++i) {
        for (q = 0; q < 3; ++q) {
            x[q][i] = 0.0;
            for (j = 0; j < SIZE; ++j) G[q][i][j] = 0.0;
        }
        for (j = 0; j < SIZE; ++j) by_v[i][j] = by_a[i][j] = 0.0;
//@ if inputs
        for (j = 0; j < INPUTS; ++j) by_u[i][j] = 0.0;
//@ end
    }
@measures@@modes@@efforts@    for (i = 0; i < @count@; ++i) {
        for (j = 0; j < @UPPER@_STATES; ++j) C[i][j] = 0.0;
//@ if inputs
        for (j = 0; j < INPUTS; ++j) D[i][j] = 0.0;
//@ end
    }
@chains@    (void)row;
    (void)k;
//@ part measures
//@ if fitted
    for (q = 0; q < 3; ++q)
        for (i = 0; i < @measures@; ++i) {
            x[q][i] = X[q][@first@ + i];
            for (k = 0; k < AXES; ++k) G[q][i][k] = Y[k][q][@first@ + i];
        }
//@ else
    for (i = 0; i < @measures@; ++i) x[0][i] = (@source@)[i];
//@ end
//@ part modes
    {
        double shape[3][@width@];
//@ if fitted
        for (q = 0; q < 3; ++q)
            for (i = 0; i < @width@; ++i) shape[q][i] = X[q][@first@ + i];
//@ else
        for (i = 0; i < @width@; ++i) shape[0][i] = (@source@)[i];
        for (i = 0; i < @width@; ++i) shape[1][i] = 0.0;
        for (i = 0; i < @width@; ++i) shape[2][i] = 0.0;
//@ end
        for (i = 0; i < @measures@; ++i)
            for (j = AXES; j < SIZE; ++j) {
                const int at_mode = i * (SIZE - AXES) + j - AXES;
                for (q = 0; q < 3; ++q) G[q][i][j] = shape[q][at_mode];
                x[0][i] += shape[0][at_mode] * state[j];
                x[1][i] += shape[1][at_mode] * state[j] + shape[0][at_mode] * v[j];
                x[2][i] += shape[2][at_mode] * state[j] + 2.0 * shape[1][at_mode] * v[j]
                           + shape[0][at_mode] * a[j];
            }
    }
//@ if fitted
    for (k = 0; k < AXES; ++k) {
        double shape[3][@width@];
        for (q = 0; q < 3; ++q)
            for (i = 0; i < @width@; ++i) shape[q][i] = Y[k][q][@first@ + i];
        for (i = 0; i < @measures@; ++i)
            for (j = AXES; j < SIZE; ++j) {
                const int at_mode = i * (SIZE - AXES) + j - AXES;
                G[0][i][k] += shape[0][at_mode] * state[j];
                G[1][i][k] += shape[1][at_mode] * state[j] + shape[0][at_mode] * v[j];
                G[2][i][k] += shape[2][at_mode] * state[j] + 2.0 * shape[1][at_mode] * v[j] + shape[0][at_mode] * a[j];
            }
    }
//@ end
//@ part efforts
//@ if any_fitted
    fit_inner_1(leaf, row, at, g, dg);
    spread(g, 0, STORED, X[0]);
    for (k = 0; k < AXES; ++k) spread(dg[k], 0, STORED, Y[k][0]);
//@ end
    {
        double rows[@numbers@], depends[@w@] = {0.0};
        double on_v[@w@][SIZE] = {{0.0}}, on_eta[@w@][SIZE] = {{0.0}};
//@ if fitted
        for (i = 0; i < @numbers@; ++i) rows[i] = X[0][@at_rows@ + i];
//@ else
        for (i = 0; i < @numbers@; ++i) rows[i] = (@source@)[i];
//@ end
        depends[0] = 1.0;
//@ if elastic
        for (i = AXES; i < SIZE; ++i) depends[@at_modes@ + i - AXES] = state[i], on_eta[@at_modes@ + i - AXES][i] = 1.0;
//@ end
//@ if inputs
        for (i = 0; i < INPUTS; ++i) depends[@at_inputs@ + i] = inputs[i];
//@ end
        for (i = 0; i < SIZE; ++i) depends[@at_accelerations@ + i] = a[i], depends[@at_rates@ + i] = v[i], on_v[@at_rates@ + i][i] = 1.0;
@turning@@friction@        for (i = 0; i < @count@; ++i)
            for (j = 0; j < @w@; ++j) {
                const double number = rows[i * @w@ + j];
                x[0][@first@ + i] += number * depends[j];
                for (k = 0; k < SIZE; ++k) {
                    G[0][@first@ + i][k] += number * on_eta[j][k];
                    by_v[@first@ + i][k] += number * on_v[j][k];
                }
            }
        for (i = 0; i < @count@; ++i) {
            for (k = 0; k < SIZE; ++k)
                by_a[@first@ + i][k] = rows[i * @w@ + @at_accelerations@ + k];
//@ if inputs
            for (k = 0; k < INPUTS; ++k) by_u[@first@ + i][k] = rows[i * @w@ + @at_inputs@ + k];
//@ end
        }
//@ if fitted
        for (k = 0; k < AXES; ++k)
            for (i = 0; i < @count@; ++i)
                for (j = 0; j < @w@; ++j)
                    G[0][@first@ + i][k] += Y[k][0][@at_rows@ + i * @w@ + j] * depends[j];
//@ end
    }
//@ part friction
        { double slides[@width@], steep, slope;
//@ if fitted
        for (i = 0; i < @width@; ++i) slides[i] = X[0][@first@ + i];
//@ else
        for (i = 0; i < @width@; ++i) slides[i] = (@source@)[i];
//@ end
@joints@        }
//@ part joint
        depends[@at@] = p->friction[@f@] * direction(p, @slip@, &steep);
        slope = p->friction[@f@] * steep;
        for (i = 0; i < SIZE; ++i) on_v[@at@][i] = slope * slides[@row@ + i];
//@ if fitted
        for (k = 0; k < AXES; ++k)
            for (i = 0; i < SIZE; ++i) on_eta[@at@][k] += slope * Y[k][0][@first@ + @row@ + i] * v[i];
//@ end
//@ part chain
    {
        const double slope = @factor@;
        for (j = 0; j < SIZE; ++j) {
            C[@o@][j] += HELD(j, at, state) ? 0.0 : slope * G[@order@][@k@][j];
            C[@o@][SIZE + j] += slope * @by_rate@;
//@ if by_acceleration
            for (i = 0; i < 2 * SIZE; ++i)
                C[@o@][i] += slope * @by_acceleration@ * A[SIZE + j][i];
//@ if inputs
            for (i = 0; i < INPUTS; ++i)
                D[@o@][i] += slope * @by_acceleration@ * B[SIZE + j][i];
//@ end
//@ end
        }
//@ if by_inputs
        for (j = 0; j < INPUTS; ++j) D[@o@][j] += slope * by_u[@k@][j];
//@ end
    }
