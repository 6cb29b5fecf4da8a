//@ part rule

/* Columns from..from + @last@ of a polynomial and their derivatives up to order @order@, by Horner's rule. */
static void @name@(const double *RESTRICT c, const @real@ x[AXES], const @real@ h[AXES], int from,
    @real@ *RESTRICT g@arguments@)
{
@scales@    int o;
    c += from;
    g += from;
//@ if scaled
//@ else
    (void)h;
//@ end
    for (o = 0; o < @width@; ++o) {
@lines@
    }
}
//@ part shapes

static void @name@(int shape, const double *RESTRICT c, const @real@ x[AXES], const @real@ h[AXES], int from,
    @real@ *RESTRICT g@arguments@)
{
    switch (shape) {
@cases@
    }
}
//@ part fit

static void @name@(int leaf, const double *row, const double at[AXES], @real@ g[WIDE]@arguments@)
{
    @real@ x[AXES], h[AXES];
    int i;
    for (i = 0; i < AXES; ++i) {
        h[i] = leaf_place[leaf][1][i];
        x[i] = (@cast@at[i] - leaf_place[leaf][0][i]) * h[i];
    }
@calls@
//@ if no_columns
    (void)row, (void)x;
//@ end
//@ if unused
    @unused@
//@ end
//@ if rest
    for (i = 0; i < MASS_COLUMNS; ++i) g[mass_place[i]] += (exact)mass_rest[leaf][i];
//@ end
}
//@ part spread

/* Copies stored columns to their places in the fit; the other places are zero. */
static void spread(const @real@ *g, int first, int stop, double F[FITTED])
{
    int i;
    for (i = 0; i < FITTED; ++i) F[i] = 0.0;
    for (i = first; i < stop; ++i) F[fitted_place[i]] = (double)g[i];
}
//@ part along

/* Stored columns of a moving point with two time derivatives, at their places in the fit. */
static void along(const @real@ *g, @real@ (*dg)[WIDE], @real@ (*ddg)[AXES][WIDE], const double *rates,
    const double *accelerations, double X[3][FITTED])
{
    @real@ first[WIDE] = {0.0}, second[WIDE] = {0.0};
    int i, j, o;
    for (i = 0; i < AXES; ++i)
        for (o = OUTPUTS_FROM; o < OUTPUTS_TO; ++o) {
            @real@ turn = 0.0;
            for (j = 0; j < AXES; ++j) turn += ddg[i][j][o] * rates[j];
            first[o] += dg[i][o] * rates[i];
            second[o] += dg[i][o] * accelerations[i] + turn * rates[i];
        }
    spread(g, OUTPUTS_FROM, OUTPUTS_TO, X[0]);
    spread(first, OUTPUTS_FROM, OUTPUTS_TO, X[1]);
    spread(second, OUTPUTS_FROM, OUTPUTS_TO, X[2]);
}
//@ part gradient_along

/* The same of the gradients: Y[k] is d/dtheta_k with two time derivatives. */
static void gradients_along(@real@ (*dg)[WIDE], @real@ (*ddg)[AXES][WIDE], @real@ (*dddg)[WIDE], const double *rates,
    const double *accelerations, double Y[AXES][3][FITTED])
{
    static const int triple[AXES][AXES][AXES] = @triples@;
    int i, j, k, o;
    for (k = 0; k < AXES; ++k) {
        @real@ first[WIDE] = {0.0}, second[WIDE] = {0.0};
        for (i = 0; i < AXES; ++i)
            for (o = OUTPUTS_FROM; o < OUTPUTS_TO; ++o) {
                @real@ turn = 0.0;
                for (j = 0; j < AXES; ++j) turn += dddg[triple[i][j][k]][o] * rates[j];
                first[o] += ddg[i][k][o] * rates[i];
                second[o] += ddg[i][k][o] * accelerations[i] + turn * rates[i];
            }
        spread(dg[k], OUTPUTS_FROM, OUTPUTS_TO, Y[k][0]);
        spread(first, OUTPUTS_FROM, OUTPUTS_TO, Y[k][1]);
        spread(second, OUTPUTS_FROM, OUTPUTS_TO, Y[k][2]);
    }
}
