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
//@ part friction_forces
    for (j = 0; j < FRICTION; ++j) {
        double slope;
        const double drag = p->friction[j] * direction(p, slip(m, j, rates), &slope);
        for (i = 0; i < SIZE; ++i) sum[i] += m->friction_map[j][i] * drag;
    }
//@ part columns

int @prefix@_columns(const double theta[@UPPER@_THETA], double values[@UPPER@_COLUMNS])
{
    double at[AXES];
    int flag;
    const int leaf = place(theta, at, &flag);
    double b[TERMS];
    const double *row;
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    row = coefficients + ROW(leaf) * COLUMNS;
    basis(leaf, at, b);
    @combine_columns@
    return flag;
}
//@ part assemble

static void assemble(int leaf, const double *eta, const double *b, double (*db)[TERMS], int known, @prefix@_model *model, changes *more@mass_argument@)
{
//@ if from_mass
    double dM[AXES][SIZE][SIZE];
//@ end
//@ if split
    static const double no_mass[@M_width@] = {0.0};
    double constant[SIZE][SIZE];
//@ end
//@ if force_columns
    double values[@force_columns@];
//@ end
//@ if counters
    int @counters@;
//@ end
//@ if row
    const double *const row = coefficients + ROW(leaf) * COLUMNS;
//@ end
@unused@@body@}
//@ part assembled
//@ if force_columns
    @combine_forces@
//@ end
//@ if split
    symmetric(no_mass, model->M);
//@ else
    symmetric(@M@, model->M);
//@ end
//@ if inertia
@inertia@
//@ end
//@ if exact
    for (i = 0; mass && i < SIZE; ++i)
//@ if bent
        for (j = 0; j < SIZE; ++j) mass[i][j] = model->M[i][j];
    symmetric(@M@, constant);
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < SIZE; ++j) model->M[i][j] += constant[i][j];
//@ else
        for (j = 0; j < SIZE; ++j) mass[i][j] = 0.0;
//@ end
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
    for (i = 0; i < AXES; ++i) {
        double slope[1];
        @potential_slope@
        model->force[i] = -slope[0];
    }
//@ else
//@ if constant_potential
    for (i = 0; i < AXES; ++i) model->force[i] = 0.0;
//@ end
//@ end
//@ if coupling
    for (i = 0; i < AXES; ++i) {
        double slope[@elastic@];
        @force_slope@
        for (j = 0; j < @elastic@; ++j) model->force_gradient[j][i] = slope[j];
    }
//@ end
//@ if bending
    for (i = 0; i < AXES; ++i) {
        double packed[@K_width@];
        @K_slope@
        symmetric(packed, model->stiffness_gradient[i]);
    }
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
    for (i = 0; i < AXES; ++i) {
        double packed[@M_width@];
        @M_slope@
        symmetric(packed, dM[i]);
    }
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
    double at[AXES];
    int flag;
    const int leaf = place(@point@, at, &flag);
    double b[TERMS]@db@;
//@ if constant_outputs
    int i;
//@ end
//@ if fitted_outputs
    const double *row;
//@ end
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
//@ if fitted_outputs
    row = coefficients + ROW(leaf) * COLUMNS;
//@ end
    @products@
    assemble(leaf, @bent_at@, b, @slopes@, 1, model, 0@no_mass@);
@seen@    return flag;
}
//@ part smooth

/* Sums the forces that are linear in the coefficients. */
static void smooth(const @prefix@_parameters *p, const @prefix@_model *m, const double @state@[SIZE], const double rates[SIZE], @real@ sum[SIZE])
{
//@ if counters
    int @counters@;
//@ end
@unused@@body@}
//@ part forces
    for (i = 0; i < SIZE; ++i) {
        double force = @force@;
//@ if summed
        for (j = 0; j < SIZE; ++j) {
//@ if christoffel
            double along = 0.0;
            for (k = 0; k < SIZE; ++k) along += m->christoffel[i][j][k] * rates[k];
            force += along * rates[j];
//@ end
//@ if damping
            force += p->damping * m->damping[i][j] * rates[j];
//@ end
//@ if K
            force += m->K[i][j] * @state@[j];
//@ end
        }
//@ end
//@ if coupling
        if (i < AXES)
            for (j = AXES; j < SIZE; ++j) force -= m->force_gradient[j - AXES][i] * @state@[j];
//@ end
//@ if bending
        if (i < AXES)
            for (j = AXES; j < SIZE; ++j)
                for (k = AXES; k < SIZE; ++k)
                    force += 0.5 * @state@[j] * m->stiffness_gradient[i][j][k] * @state@[k];
//@ end
        sum[i] = force;
    }
//@ part resistance

static void resistance(const @prefix@_parameters *p, const @prefix@_model *m, const double @state@[SIZE],
    const double rates[SIZE], @real@ sum[SIZE])
{
@count@    smooth(p, m, @state@, rates, sum);
@friction@}
//@ part dynamics

/* Evaluates the coefficients of the forces, and the Chebyshev products they are made of, at a point. */
static int equations(const double *eta, @prefix@_model *m@given_mass@)
{
    double at[AXES], b[TERMS]@db@;
@exact_terms@    int flag;
    const int leaf = place(eta, at, &flag);
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    @tabulate@
    assemble(leaf, @bent@, b, @slopes@, 1, m, 0@mass@);
@exact_parts@    return flag;
}

void @prefix@_defaults(@prefix@_parameters *parameters)
{
    *parameters = standard;
}

int @prefix@_inverse(@given@const double accelerations[@n@], double forces[@n@])
{
    @prefix@_model m;
    @real@ rest[SIZE];
    int i, j;
    const int flag = equations(@state@, &m@no_mass@);
    if (flag == @UPPER@_OUTSIDE) return flag;
    resistance(&standard, &m, @state@, rates, rest);
    for (i = 0; i < SIZE; ++i) {
        for (j = 0; j < SIZE; ++j) rest[i] += @cast@m.M[i][j] * accelerations[j];
        forces[i] = (double)rest[i];
    }
    return flag;
}

static int accelerate(const @prefix@_parameters *p, @given@@inputs@double accelerations[SIZE])
{
    @prefix@_model m;
    @real@ rest[SIZE];
@factor@    int i@j@;
    const int flag = equations(@state@, &m@its_mass@);
    if (flag == @UPPER@_OUTSIDE) return flag;
    resistance(p, &m, @state@, rates, rest);
    for (i = 0; i < SIZE; ++i) {
        rest[i] = -rest[i];
@feed@    }
    if (factorize(@factored@)) return @UPPER@_INDEFINITE;
    substitute(@factored@, rest);
    for (i = 0; i < SIZE; ++i) accelerations[i] = (double)rest[i];
    return flag;
}

int @prefix@_forward(@given@@inputs@double accelerations[@n@])
{
    return accelerate(&standard, @state@, rates, @pass@accelerations);
}
