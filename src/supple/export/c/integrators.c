//@ part steps

int @prefix@_step_explicit(const @prefix@_parameters *parameters, double state[@states@], @inputs@double step)
{
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double k[@states@], x[@states@], sum[@states@];
    int i, stage, worst = @UPPER@_INSIDE;
    if (!all_finite(&step, 1)) return @UPPER@_UNDEFINED;
    for (i = 0; i < @states@; ++i) k[i] = sum[i] = 0.0;
    for (stage = 0; stage < 4; ++stage) {
        int flag;
        for (i = 0; i < @states@; ++i) x[i] = state[i] + step * part[stage] * k[i];
        flag = @prefix@_derivative(parameters, x, @pass@k);
        if (flag == @UPPER@_CLAMPED) worst = flag;
        else if (flag) return flag;
        for (i = 0; i < @states@; ++i) sum[i] += weight[stage] * k[i];
    }
    for (i = 0; i < @states@; ++i) x[i] = state[i] + step / 6.0 * sum[i];
    if (!all_finite(x, @states@)) return @UPPER@_UNDEFINED;
    for (i = 0; i < @states@; ++i) state[i] = x[i];
    return worst;
}

/* LU factors of W with row exchanges. Returns 1 if W is singular. */
static int triangular(double W[SIZE][SIZE], int order[SIZE])
{
    int i, j, k;
    for (k = 0; k < SIZE; ++k) {
        int best = k;
        for (i = k + 1; i < SIZE; ++i)
            if (fabs(W[i][k]) > fabs(W[best][k])) best = i;
        if (!(fabs(W[best][k]) > 0.0)) return 1;
        order[k] = best;
        for (j = 0; j < SIZE; ++j) {
            const double kept = W[k][j];
            W[k][j] = W[best][j];
            W[best][j] = kept;
        }
        for (i = k + 1; i < SIZE; ++i) {
            W[i][k] /= W[k][k];
            for (j = k + 1; j < SIZE; ++j) W[i][j] -= W[i][k] * W[k][j];
        }
    }
    return 0;
}

/* Solves (g - J) x = x for both halves of a state. */
static void stage_solution(const tangents *T, double W[SIZE][SIZE], const int order[SIZE], double g,
    double x[@states@])
{
    double r[SIZE];
    int i, j;
    for (i = 0; i < SIZE; ++i) {
        r[i] = 0.0;
        for (j = 0; j < SIZE; ++j) r[i] += T->m.M[i][j] * x[SIZE + j] + T->along[i][j] * x[j] / g;
    }
    for (i = 0; i < SIZE; ++i) {
        const double kept = r[order[i]];
        r[order[i]] = r[i];
        r[i] = kept;
    }
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < i; ++j) r[i] -= W[i][j] * r[j];
    for (i = SIZE - 1; i >= 0; --i) {
        for (j = i + 1; j < SIZE; ++j) r[i] -= W[i][j] * r[j];
        r[i] /= W[i][i];
    }
    for (i = 0; i < SIZE; ++i) {
        x[i] = (x[i] + r[i]) / g;
        x[SIZE + i] = r[i];
    }
}

int @prefix@_step_implicit(const @prefix@_parameters *parameters, double state[@states@], @inputs@double step)
{
    const double g = 2.0 / step;
    @real@ L[SIZE][SIZE];
    double W[SIZE][SIZE], f[@states@], k[4][@states@], x[@states@];
    int order[SIZE], i, j, stage, flag, worst;
    tangents T;
    if (!(step > 0.0) || !all_finite(&g, 1)) return @UPPER@_UNDEFINED;
    flag = tangent(parameters ? parameters : &standard, state, state + SIZE, @pass@0, &T, L);
    worst = flag = checked(flag, @pass@state);
    if (flag && flag != @UPPER@_CLAMPED) return flag;
    for (i = 0; i < SIZE; ++i) {
        f[i] = state[SIZE + i];
        f[SIZE + i] = T.a[i];
        for (j = 0; j < SIZE; ++j) W[i][j] = g * T.m.M[i][j] - T.rates[i][j] - T.along[i][j] / g;
    }
    if (triangular(W, order)) return @UPPER@_INDEFINITE;
    for (stage = 0; stage < 4; ++stage) {
        if (stage > 1) {
            for (i = 0; i < @states@; ++i) x[i] = state[i] + 2.0 * k[0][i] + (stage == 3 ? k[2][i] : 0.0);
            flag = @prefix@_derivative(parameters, x, @pass@f);
            if (flag == @UPPER@_CLAMPED) worst = flag;
            else if (flag) return flag;
        }
        for (i = 0; i < @states@; ++i) {
            double sum = 0.0;
            if (stage == 1) sum = 4.0 * k[0][i];
            if (stage > 1) sum = k[0][i] - k[1][i];
            if (stage == 3) sum -= 8.0 / 3.0 * k[2][i];
            k[stage][i] = f[i] + sum / step;
        }
        stage_solution(&T, W, order, g, k[stage]);
    }
    for (i = 0; i < @states@; ++i) x[i] = state[i] + 2.0 * k[0][i] + k[2][i] + k[3][i];
    if (!all_finite(x, @states@)) return @UPPER@_UNDEFINED;
    for (i = 0; i < @states@; ++i) state[i] = x[i];
    return worst;
}
