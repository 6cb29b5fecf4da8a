//@ part turning

/* Derivative of the forces with respect to the rates, S_v. */
static void turning(const @prefix@_parameters *p, const @prefix@_model *m, const double rates[SIZE],
    double S[SIZE][SIZE])
{
    int i, j@k@;
@unused@@turning@}
//@ part tangent

typedef struct {
    @prefix@_model m;
    double a[SIZE], along[SIZE][SIZE], rates[SIZE][SIZE]; /* accelerations, S_eta, S_v */
} tangents;

/* Coefficients, accelerations, and derivatives of the forces with respect to coordinates and rates. L is M, or its
   factor if a system is solved. If known is not null, it holds the accelerations and no system is solved. */
static int tangent(const @prefix@_parameters *p, const double eta[SIZE], const double rates[SIZE],
    @inputs@const double *known, tangents *T, @real@ L[SIZE][SIZE])
{
    @arrays@
    @real@ sum[SIZE], dM[SIZE][SIZE];
    double at[AXES], F[FITTED]@dF@;
//@ if bent
    changes more;
//@ end
    int i, j, k, flag;
    const int leaf = place(eta, at, &flag);
    const double *row;
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    @fit@
    spread(g, 0, STORED, F);
//@ if slopes
    for (i = 0; i < AXES; ++i) spread(dg[i], 0, SLOPED_COLUMNS, dF[i]);
//@ end
    assemble(@at@, F, @slope_array@, &T->m, @more@);
    forces(p, g, @pass_dg@eta, rates, L, sum);
    if (known) {
        for (i = 0; i < SIZE; ++i) T->a[i] = known[i];
    } else {
@feed@        if (factorize(L)) return @UPPER@_INDEFINITE;
        substitute(L, sum);
        for (i = 0; i < SIZE; ++i) T->a[i] = -(double)sum[i];
    }
    for (k = 0; k < AXES; ++k) {
        if (HELD(k, at, eta)) {
            for (i = 0; i < SIZE; ++i) T->along[i][k] = 0.0;
            continue;
        }
        change(p, dg[k], @pass_ddg@eta, rates, dM, sum);
//@ if differs
        spread(dg[k], 0, STORED, F);
//@ end
        for (i = 0; i < SIZE; ++i) {
            @real@ total = -sum[i];
            for (j = 0; j < SIZE; ++j) total -= dM[i][j] * T->a[j];
//@ if fitted_inputs
            for (j = 0; j < INPUTS; ++j) total += @cast@(F[@input_map@ + i * INPUTS + j] * inputs[j]);
//@ end
            T->along[i][k] = (double)total;
        }
//@ if friction
        for (j = 0; j < FRICTION; ++j) {
            double slope, turn = 0.0;
            const double drag = p->friction[j] * direction(p, slip(&T->m, j, rates), &slope);
//@ if fitted_friction
            for (i = 0; i < SIZE; ++i) turn += F[@friction_map@ + j * SIZE + i] * rates[i];
//@ end
            turn *= p->friction[j] * slope;
            for (i = 0; i < SIZE; ++i) {
//@ if fitted_friction
                T->along[i][k] -= F[@friction_map@ + j * SIZE + i] * drag;
//@ end
                T->along[i][k] -= T->m.friction_map[j][i] * turn;
            }
//@ if not fitted_friction
            (void)drag;
//@ end
        }
//@ end
    }
//@ if elastic
    for (i = 0; i < SIZE; ++i)
        for (k = AXES; k < SIZE; ++k) {
            double total = 0.0;
//@ if stiffness
            total -= T->m.K[i][k];
//@ end
//@ if coupling
            if (i < AXES) total += T->m.force_gradient[k - AXES][i];
//@ end
//@ if bending
            for (j = AXES; i < AXES && j < SIZE; ++j) total -= T->m.stiffness_gradient[i][k][j] * eta[j];
//@ end
            T->along[i][k] = total;
        }
//@ if bent
    /* Inertia forces differentiated by delta: (dM/ddelta) a and Gamma[rates, rates]. */
    for (i = 0; i < SLOPED; ++i)
        for (j = 0; j < SIZE; ++j)
            for (k = AXES; k < SIZE; ++k) {
                const double slope = T->m.mass_slope[i][j][k - AXES];
                double turn = 0.0;
                int q;
                for (q = 0; q < AXES; ++q) {
                    const double change = more.gradient[q][i][j][k - AXES];
                    turn += change * rates[q];
                    T->along[q][k] += (j < SLOPED ? 0.5 : 1.0) * change * rates[i] * rates[j];
                }
                T->along[i][k] -= slope * T->a[j] + turn * rates[j];
                if (j >= SLOPED) T->along[j][k] -= slope * T->a[i] + turn * rates[i];
            }
//@ end
//@ if curved
    {
        const double *Q = more.curvature;
        for (i = 0; i < AXES; ++i)
            for (j = i; j < AXES; ++j) {
                const double pair = (i == j ? 0.5 : 1.0) * rates[i] * rates[j];
                int c, e;
                for (c = AXES; c < SIZE; ++c)
                    for (e = c; e < SIZE; ++e, ++Q) {
                        T->along[i][c] -= *Q * rates[j] * rates[e];
                        if (j > i) T->along[j][c] -= *Q * rates[i] * rates[e];
                        T->along[c][e] += *Q * pair;
                        if (e == c) continue;
                        T->along[i][e] -= *Q * rates[j] * rates[c];
                        if (j > i) T->along[j][e] -= *Q * rates[i] * rates[c];
                        T->along[e][c] += *Q * pair;
                    }
            }
    }
//@ end
//@ end
    turning(p, &T->m, rates, T->rates);
    return flag;
}
//@ part jacobian

/* Returns UNDEFINED in place of a flag if an argument is not finite, which would also make M indefinite. */
static int checked(int flag, @inputs@const double state[@states@])
{
//@ if inputs
    if (flag != @UPPER@_OUTSIDE && !all_finite(inputs, INPUTS)) return @UPPER@_UNDEFINED;
//@ end
    return flag != @UPPER@_OUTSIDE && !all_finite(state, @states@) ? @UPPER@_UNDEFINED : flag;
}

int @prefix@_derivative(const @prefix@_parameters *parameters, const double state[@states@],
    @inputs@double rate[@states@])
{
    double a[SIZE] = {0.0};
    int i;
    const int flag = checked(accelerate(parameters ? parameters : &standard, state, state + SIZE, @pass@a), @pass@state);
    if (flag && flag != @UPPER@_CLAMPED) return flag;
    if (!all_finite(a, SIZE)) return @UPPER@_UNDEFINED;
    for (i = 0; i < SIZE; ++i) {
        rate[i] = state[SIZE + i];
        rate[SIZE + i] = a[i];
    }
    return flag;
}

int @prefix@_jacobian(const @prefix@_parameters *parameters, const double state[@states@],
    @inputs@double rate[@states@], double A[@states@][@states@]@B@)
{
    tangents T;
    @real@ L[SIZE][SIZE], column[SIZE];
    int i, k;
    const int flag = checked(tangent(parameters ? parameters : &standard, state, state + SIZE, @pass@0, &T, L), @pass@state);
    if (flag && flag != @UPPER@_CLAMPED) return flag;
    for (k = 0; k < 2 * SIZE; ++k) {
        double (*const columns)[SIZE] = k < SIZE ? T.along : T.rates;
        for (i = 0; i < SIZE; ++i) column[i] = columns[i][k % SIZE];
        substitute(L, column);
        for (i = 0; i < SIZE; ++i) columns[i][k % SIZE] = (double)column[i];
    }
//@ if inputs
    for (k = 0; k < INPUTS; ++k) {
        for (i = 0; i < SIZE; ++i) column[i] = T.m.input_map[i][k];
        substitute(L, column);
        for (i = 0; i < SIZE; ++i) T.m.input_map[i][k] = (double)column[i];
    }
    if (!all_finite(&T.m.input_map[0][0], SIZE * INPUTS)) return @UPPER@_UNDEFINED;
//@ end
    if (!all_finite(&T.along[0][0], SIZE * SIZE) || !all_finite(&T.rates[0][0], SIZE * SIZE)) return @UPPER@_UNDEFINED;
    if (!all_finite(T.a, SIZE)) return @UPPER@_UNDEFINED;
    for (i = 0; i < SIZE; ++i)
        for (k = 0; k < SIZE; ++k) {
            A[i][k] = 0.0;
            A[i][SIZE + k] = k == i ? 1.0 : 0.0;
            A[SIZE + i][k] = T.along[i][k];
            A[SIZE + i][SIZE + k] = T.rates[i][k];
        }
//@ if inputs
    for (k = 0; k < INPUTS; ++k)
        for (i = 0; i < SIZE; ++i) {
            B[i][k] = 0.0;
            B[SIZE + i][k] = T.m.input_map[i][k];
        }
//@ end
    for (i = 0; i < SIZE; ++i) {
        rate[i] = state[SIZE + i];
        rate[SIZE + i] = T.a[i];
    }
    return flag;
}
//@ part forces_of_rates
//@ if bent
    /* 2 Gamma[rates] = dM/dt + L - L', L_ij = (dM/deta_j rates)_i */
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < SIZE; ++j) {
            double sum = 0.0;
            for (k = 0; k < AXES; ++k) sum += m->mass_gradient[k][i][j] * rates[k];
            if (i < SLOPED)
                for (k = AXES; k < SIZE; ++k) sum += m->mass_slope[i][j][k - AXES] * rates[k];
            else if (j < SLOPED)
                for (k = AXES; k < SIZE; ++k) sum += m->mass_slope[j][i][k - AXES] * rates[k];
            S[i][j] = -sum;
        }
    for (j = 0; j < SIZE; ++j) {
        double column[SIZE] = {0.0};
        for (i = 0; j < AXES && i < SIZE; ++i)
            for (k = 0; k < SIZE; ++k) column[i] += m->mass_gradient[j][i][k] * rates[k];
        for (i = 0; j >= AXES && i < SLOPED; ++i)
            for (k = 0; k < SIZE; ++k) {
                column[i] += m->mass_slope[i][k][j - AXES] * rates[k];
                if (k >= SLOPED) column[k] += m->mass_slope[i][k][j - AXES] * rates[i];
            }
        for (i = 0; i < SIZE; ++i) {
            S[i][j] -= column[i];
            S[j][i] += column[i];
        }
    }
//@ if damping
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < SIZE; ++j) S[i][j] -= p->damping * m->damping[i][j];
//@ end
//@ else
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < SIZE; ++j) {
            double sum = 0.0;
//@ if christoffel
            for (k = 0; k < SIZE; ++k) sum -= 2.0 * m->christoffel[i][j][k] * rates[k];
//@ end
//@ if damping
            sum -= p->damping * m->damping[i][j];
//@ end
            S[i][j] = sum;
        }
//@ end
//@ if friction
    for (k = 0; k < FRICTION; ++k) {
        double slope;
        (void)direction(p, slip(m, k, rates), &slope);
        slope *= p->friction[k];
        for (i = 0; i < SIZE; ++i)
            for (j = 0; j < SIZE; ++j)
                S[i][j] -= slope * m->friction_map[k][i] * m->friction_map[k][j];
    }
//@ end
