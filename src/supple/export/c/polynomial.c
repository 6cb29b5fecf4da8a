//@ part basis

static void basis(int leaf, const double theta[AXES], double b[TERMS])
{
    double t[AXES][@size@];
    int i;
    for (i = 0; i < AXES; ++i) {
        const double x = (theta[i] - leaf_place[leaf][0][i]) * leaf_place[leaf][1][i];
        t[i][0] = 1.0;
        t[i][1] = x;
@recurrence@    }
//@ if looped
    {
        int k;
        b[0] = 1.0;
        for (k = 1; k < @terms@; ++k) b[k] = b[term_steps[k][0]] * t[term_steps[k][1]][term_steps[k][2]];
    }
//@ end
@products@}
//@ part combine

static void combine_@width@(const double *RESTRICT c, const double *RESTRICT b@terms@, double *RESTRICT out)
{
    int o;
//@ if whole
    for (o = 0; o < @width@; ++o)
        out[o] = @products@;
//@ else
    for (o = 0; o < @width@; ++o) out[o] = 0.0;
    c += terms * COLUMNS;
    b += terms;
//@ if rest
    for (; terms % @block@; --terms, c -= COLUMNS, --b)
        for (o = 0; o < @width@; ++o) out[o] += b[-1] * c[o - COLUMNS];
//@ end
    for (; terms > 0; terms -= @block@) {
        c -= @block@ * COLUMNS;
        b -= @block@;
        for (o = 0; o < @width@; ++o)
            out[o] += @products@;
    }
//@ end
}
