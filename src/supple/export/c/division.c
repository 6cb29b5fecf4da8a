//@ part source

enum { DIVISIONS = @iterations@, HALVINGS = @halvings@ };
#define UNMET @unmet@

/* Computes u(lambda), the missing forces and the dual objective; unbound is 1 for inputs that are not at a bound. */
static double divided(double B[AXES][INPUTS], const double *forces, const double *weights, const double *lower,
    const double *upper, const double *multipliers, double *u, int *unbound, double *missing)
{
    double value = 0.0;
    int i, a;
    for (i = 0; i < AXES; ++i) missing[i] = forces[i];
    for (a = 0; a < INPUTS; ++a) {
        const double weight = weights ? weights[a] : 1.0;
        double pull = 0.0;
        for (i = 0; i < AXES; ++i) pull += B[i][a] * multipliers[i];
        u[a] = pull / weight;
        unbound[a] = 1;
        if (lower && !(u[a] > lower[a])) u[a] = lower[a], unbound[a] = 0;
        if (upper && !(u[a] < upper[a])) u[a] = upper[a], unbound[a] = 0;
        value += pull * u[a] - 0.5 * weight * u[a] * u[a];
        for (i = 0; i < AXES; ++i) missing[i] -= B[i][a] * u[a];
    }
    for (i = 0; i < AXES; ++i) value -= multipliers[i] * forces[i];
    return value;
}

int @prefix@_divide(const double theta[@UPPER@_THETA], const double forces[@UPPER@_THETA], const double *weights,
    const double *lower, const double *upper, double inputs[@UPPER@_INPUTS])
{
    double at[AXES], B[AXES][INPUTS], L[AXES][AXES], step[AXES], tried[AXES];
    double multipliers[AXES] = {0.0}, u[INPUTS], missing[AXES], scale = 0.0, value, size;
//@ if fitted
    @arrays@
    double F[FITTED];
    const double *row;
//@ end
    int unbound[INPUTS], i, j, k, a, n, m, flag;
    const int leaf = place(theta, at, &flag);
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    if (!all_finite(forces, AXES)) return @UPPER@_UNDEFINED;
    for (a = 0; a < INPUTS; ++a) { /* bounds may be infinite, but not NaN, and not exclude each other */
        if (weights && (!(weights[a] > 0.0) || !all_finite(weights + a, 1))) return @UPPER@_UNDEFINED;
        if (lower && !all_finite(lower + a, 1) && !(lower[a] < 0.0)) return @UPPER@_UNDEFINED;
        if (upper && !all_finite(upper + a, 1) && !(upper[a] > 0.0)) return @UPPER@_UNDEFINED;
        if (lower && upper && !(lower[a] <= upper[a])) return @UPPER@_UNDEFINED;
    }
//@ if fitted
    row = coefficients + ROW(leaf) * COLUMNS;
    @fit@
    spread(g, 0, STORED, F);
//@ end
    for (i = 0; i < AXES; ++i)
        for (a = 0; a < INPUTS; ++a) B[i][a] = (@map@)[i * INPUTS + a];
    for (i = 0; i < AXES; ++i) scale = fabs(forces[i]) > scale ? fabs(forces[i]) : scale;
    value = divided(B, forces, weights, lower, upper, multipliers, u, unbound, missing);
    for (n = 0; n < DIVISIONS; ++n) {
        double hold = 0.0, slope = 0.0, part = 1.0;
        size = 0.0;
        for (i = 0; i < AXES; ++i) size = fabs(missing[i]) > size ? fabs(missing[i]) : size;
        if (size <= @settled@ * scale) break;
        for (i = 0; i < AXES; ++i)
            for (j = 0; j <= i; ++j) {
                double all = 0.0;
                L[i][j] = 0.0;
                for (a = 0; a < INPUTS; ++a) {
                    const double product = B[i][a] * B[j][a] / (weights ? weights[a] : 1.0);
                    L[i][j] += unbound[a] ? product : 0.0;
                    all += product;
                }
                if (i == j) hold = all > hold ? all : hold;
            }
        if (!(hold > 0.0)) return @UPPER@_INDEFINITE;
        for (i = 0; i < AXES; ++i) { /* too few unbound inputs for a Newton step: use a gradient step */
            L[i][i] += @ridge@ * hold;
            step[i] = missing[i];
            for (j = 0; j <= i; ++j) {
                double sum = L[i][j];
                for (k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
                if (i > j) L[i][j] = sum / L[j][j];
                else if (!(sum > 0.0)) return @UPPER@_INDEFINITE;
                else L[i][i] = sqrt(sum);
            }
        }
        for (i = 0; i < AXES; ++i) {
            for (k = 0; k < i; ++k) step[i] -= L[i][k] * step[k];
            step[i] /= L[i][i];
        }
        for (i = AXES - 1; i >= 0; --i) {
            for (k = i + 1; k < AXES; ++k) step[i] -= L[k][i] * step[k];
            step[i] /= L[i][i];
            slope += step[i] * missing[i];
        }
        for (m = 0; m < HALVINGS; ++m, part *= 0.25) {
            double now;
            for (i = 0; i < AXES; ++i) tried[i] = multipliers[i] + part * step[i];
            now = divided(B, forces, weights, lower, upper, tried, u, unbound, missing);
            if (now <= value - 1e-4 * part * slope || m == HALVINGS - 1) {
                value = now;
                for (i = 0; i < AXES; ++i) multipliers[i] = tried[i];
                break;
            }
        }
    }
    size = 0.0;
    for (i = 0; i < AXES; ++i) size = !(fabs(missing[i]) <= size) ? fabs(missing[i]) : size;
    if (!all_finite(u, INPUTS)) return @UPPER@_UNDEFINED;
    for (a = 0; a < INPUTS; ++a) inputs[a] = u[a];
    return size <= UNMET * scale ? flag : @UPPER@_UNMET;
}
