//@ part type

#ifndef @UPPER@_EXACT
#define @UPPER@_EXACT 1
#endif
#if @UPPER@_EXACT
typedef double exact;
#define ROOT (sqrt)
#else
typedef double inexact;
typedef inexact exact;
#define ROOT sqrt
#endif
//@ part exact_parts

static void rounded(const exact eb[TERMS], exact edb[AXES][TERMS], int terms, double b[TERMS], double (*db)[TERMS])
{
    int i, k;
    for (k = 0; k < terms; ++k) b[k] = (double)eb[k];
    for (i = 0; db && i < AXES; ++i)
        for (k = 0; k < terms; ++k) db[i][k] = (double)edb[i][k];
}

/* Sums adjacent columns, smallest terms first. */
static void summed(const double *RESTRICT c, const exact *RESTRICT b, int terms, int columns, exact *RESTRICT out)
{
    int k, o;
    for (o = 0; o < columns; ++o) out[o] = 0.0;
    for (k = terms - 1; k >= 0; --k)
        for (o = 0; o < columns; ++o) out[o] += b[k] * (exact)c[k * COLUMNS + o];
}

/* Computes M (including its change with deformation) and p in higher precision, and rounds both into the structure. */
static void exact_parts(int leaf, const exact b[TERMS], exact db[AXES][TERMS], @prefix@_model *m, exact M[SIZE][SIZE])
{
    exact sums[@pairs@];
    const double *const row = coefficients + ROW(leaf) * COLUMNS;
    int i, j, o = 0;
//@ if not from_potential
    (void)db;
//@ end
    summed(row + @mass@, b, @terms@, @pairs@, sums);
    for (i = 0; i < SIZE; ++i)
        for (j = i; j < SIZE; ++j, ++o) {
            M[i][j] += sums[o] + b[0] * (exact)mass_rest[leaf][o];
            M[j][i] = M[i][j];
            m->M[i][j] = m->M[j][i] = (double)M[i][j];
        }
//@ if fitted_force
    summed(row + @force@, b, @terms@, SIZE, sums);
    for (i = 0; i < SIZE; ++i) m->force[i] = (double)sums[i];
//@ end
//@ if from_potential
    for (i = 0; i < AXES; ++i) {
        summed(row + @potential@, db[i], @terms@, 1, sums);
        m->force[i] = -(double)sums[0];
    }
//@ else
//@ if constant_potential
    for (i = 0; i < AXES; ++i) m->force[i] = 0.0;
//@ end
//@ end
}
