//@ part symmetric

static void symmetric(const double *packed, double full[SIZE][SIZE])
{
    int i, j;
    for (i = 0; i < SIZE; ++i)
        for (j = i; j < SIZE; ++j) {
            full[i][j] = *packed;
            full[j][i] = *packed++;
        }
}
//@ part solve

/* Cholesky factor of M, in its lower triangle. Returns 0, or 1 if M is not positive definite. */
static int factorize(@real@ M[SIZE][SIZE])
{
    int i, j, k;
    for (j = 0; j < SIZE; ++j) {
        @real@ pivot = M[j][j];
        for (k = 0; k < j; ++k) pivot -= M[j][k] * M[j][k];
        if (!(pivot > 0.0)) return 1;
        M[j][j] = @root@(pivot);
        for (i = j + 1; i < SIZE; ++i) {
            @real@ sum = M[i][j];
            for (k = 0; k < j; ++k) sum -= M[i][k] * M[j][k];
            M[i][j] = sum / M[j][j];
        }
    }
    return 0;
}

/* Solves M x = x with this factor. */
static void substitute(@real@ M[SIZE][SIZE], @real@ x[SIZE])
{
    int i, k;
    for (i = 0; i < SIZE; ++i) {
        for (k = 0; k < i; ++k) x[i] -= M[i][k] * x[k];
        x[i] /= M[i][i];
    }
    for (i = SIZE - 1; i >= 0; --i) {
        for (k = i + 1; k < SIZE; ++k) x[i] -= M[k][i] * x[k];
        x[i] /= M[i][i];
    }
}
//@ part friction

/* Dry friction divided by its limit: the sign of the rate, smoothed below the slip rate; and its slope. */
static double direction(const @prefix@_parameters *p, double rate, double *slope)
{
    const double part = p->slip_rate > 0.0 ? tanh(rate / p->slip_rate) : (double)((rate > 0.0) - (rate < 0.0));
    *slope = p->slip_rate > 0.0 ? (1.0 - part * part) / p->slip_rate : 0.0;
    return part;
}

static double slip(const @prefix@_model *m, int j, const double rates[SIZE])
{
    double rate = 0.0;
    int i;
    for (i = 0; i < SIZE; ++i) rate += m->friction_map[j][i] * rates[i];
    return rate;
}
//@ part columns

int @prefix@_columns(const double theta[@UPPER@_THETA], double values[@UPPER@_COLUMNS])
{
    @real@ g[WIDE];
    double at[AXES];
    int flag;
    const int leaf = place(theta, at, &flag);
    const double *row;
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    @fit_all@
    spread(g, 0, STORED, values);
    return flag;
}
//@ part assemble

/* Unpacks coefficients from the columns F and their slopes dF. */
static void assemble(const double *eta, const double *F, double (*dF)[FITTED], @prefix@_model *model, changes *more)
{
//@ if from_mass
    double dM[AXES][SIZE][SIZE];
//@ end
//@ if counters
    int @counters@;
//@ end
@unused@@body@}
//@ part assembled
    symmetric(@M@, model->M);
//@ if inertia
@inertia@
//@ end
//@ if damping
    symmetric(@damping@, model->damping);
//@ end
//@ if K
    symmetric(@K@, model->K);
//@ end
//@ if potential
    model->potential = *(@potential@);
//@ end
//@ if force
    for (i = 0; i < SIZE; ++i) model->force[i] = (@force@)[i];
//@ else
//@ if no_elastic_force
    for (i = 0; i < SIZE; ++i) model->force[i] = 0.0;
//@ end
//@ end
//@ if from_potential
    for (i = 0; i < AXES; ++i) model->force[i] = -*(@potential_slope@);
//@ else
//@ if constant_potential
    for (i = 0; i < AXES; ++i) model->force[i] = 0.0;
//@ end
//@ end
//@ if coupling
    for (i = 0; i < AXES; ++i)
        for (j = 0; j < @elastic@; ++j) model->force_gradient[j][i] = (@force_slope@)[j];
//@ end
//@ if bending
    for (i = 0; i < AXES; ++i) symmetric(@K_slope@, model->stiffness_gradient[i]);
//@ end
//@ if input_map
    for (i = 0; i < @size@; ++i)
        for (j = 0; j < @inputs@; ++j)
            model->input_map[i][j] = (@input_map@)[i * @inputs@ + j];
//@ end
//@ if friction_map
    for (i = 0; i < @friction@; ++i)
        for (j = 0; j < @size@; ++j)
            model->friction_map[i][j] = (@friction_map@)[i * @size@ + j];
//@ end
//@ part christoffel
//@ if christoffel
    for (i = 0; i < SIZE; ++i)
        symmetric(@christoffel@ + i * @M_width@, model->christoffel[i]);
//@ else
//@ if no_elastic_christoffel
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < SIZE; ++j)
            for (k = 0; k < SIZE; ++k)
                model->christoffel[i][j][k] = 0.0;
//@ end
//@ end
//@ if from_mass
    for (i = 0; i < AXES; ++i) symmetric(@M_slope@, dM[i]);
    for (i = 0; i < AXES; ++i)
        for (j = 0; j < AXES; ++j)
            for (k = 0; k < AXES; ++k)
                model->christoffel[i][j][k] = 0.5 * (dM[k][i][j] + dM[j][i][k] - dM[i][j][k]);
//@ else
//@ if constant_mass
    for (i = 0; i < AXES; ++i)
        for (j = 0; j < AXES; ++j)
            for (k = 0; k < AXES; ++k)
                model->christoffel[i][j][k] = 0.0;
//@ end
//@ end
//@ part coefficients

int @prefix@_coefficients(const double @argument@, @prefix@_model *model)
{
    @arrays@
    double at[AXES], F[FITTED]@dF@;
    int flag;
    const int leaf = place(@point@, at, &flag);
//@ if counted
    int i;
//@ end
    const double *row;
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
//@ if bent
    if (!all_finite(eta, SIZE)) return @UPPER@_UNDEFINED;
//@ end
    row = coefficients + ROW(leaf) * COLUMNS;
    @fit@
    spread(g, 0, STORED, F);
//@ if slopes
    for (i = 0; i < AXES; ++i) spread(dg[i], 0, SLOPED_COLUMNS, dF[i]);
//@ end
    assemble(@bent_at@, F, @slope_array@, model, 0);
//@ if fitted_outputs
    @fit_outputs@
    spread(g, OUTPUTS_FROM, OUTPUTS_TO, F);
//@ end
@seen@    return flag;
}
//@ part dynamics

/* Evaluates the columns of forces at a point. */
static int equations(const double *eta, @declared@)
{
    double at[AXES];
    int flag;
    const int leaf = place(eta, at, &flag);
    const double *row;
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    @fit@
    return flag;
}

void @prefix@_defaults(@prefix@_parameters *parameters)
{
    *parameters = standard;
}

int @prefix@_inverse(@given@const double accelerations[@n@], double required[@n@])
{
    @arrays@
    @real@ M[SIZE][SIZE], sum[SIZE];
    double found[SIZE];
    int i, j;
    const int flag = equations(@state@, g@dg@);
    if (flag == @UPPER@_OUTSIDE) return flag;
    if (!all_finite(@state@, SIZE) || !all_finite(rates, SIZE) || !all_finite(accelerations, SIZE)) return @UPPER@_UNDEFINED;
    forces(&standard, g, @pass_dg@@state@, rates, M, sum);
    for (i = 0; i < SIZE; ++i) {
        for (j = 0; j < SIZE; ++j) sum[i] += M[i][j] * @cast@accelerations[j];
        found[i] = (double)sum[i];
    }
    if (!all_finite(found, SIZE)) return @UPPER@_UNDEFINED;
    for (i = 0; i < SIZE; ++i) required[i] = found[i];
    return flag;
}

static int accelerate(const @prefix@_parameters *p, @given@@inputs@double accelerations[SIZE])
{
    @arrays@
    @real@ M[SIZE][SIZE], sum[SIZE];
    int i@j@;
    const int flag = equations(@state@, g@dg@);
    if (flag == @UPPER@_OUTSIDE) return flag;
    forces(p, g, @pass_dg@@state@, rates, M, sum);
@feed@    if (factorize(M)) return @UPPER@_INDEFINITE;
    substitute(M, sum);
    for (i = 0; i < SIZE; ++i) accelerations[i] = -(double)sum[i];
    return flag;
}

int @prefix@_forward(@given@@inputs@double accelerations[@n@])
{
    double found[SIZE];
    int i;
    const int flag = accelerate(&standard, @state@, rates, @pass@found);
    if (flag == @UPPER@_OUTSIDE) return flag;
    if (!all_finite(@state@, SIZE) || !all_finite(rates, SIZE)) return @UPPER@_UNDEFINED;
//@ if inputs
    if (!all_finite(inputs, INPUTS)) return @UPPER@_UNDEFINED;
//@ end
    if (flag == @UPPER@_INDEFINITE) return flag;
    if (!all_finite(found, SIZE)) return @UPPER@_UNDEFINED;
    for (i = 0; i < SIZE; ++i) accelerations[i] = found[i];
    return flag;
}
