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

/* Cholesky's factor of M into its lower triangle; 0, or 1 if M is not positive definite. */
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

/* M x = x by that factor. */
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

/* Dry friction: its force over the limit, the sign of the rate, rounded off below the slip rate; and its slope. */
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
//@ part resistance

static void resistance(const @prefix@_parameters *p, const @prefix@_model *m, const double @state@[SIZE],
    const double rates[SIZE], @real@ sum[SIZE])
{
@count@    smooth(p, m, @state@, rates, sum);
@friction@}
//@ part dynamics

/* Coefficients of forces, and the products they come from, at a point. */
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
