//@ part basis

static void @name@(int leaf, const double theta[AXES], @real@ b[TERMS]@db@)
{
    @real@ t[AXES][@size@];
//@ if slopes
    @real@ d[AXES][@size@];
//@ end
    int i;
    for (i = 0; i < AXES; ++i) {
        const @real@ inverse = leaf_place[leaf][1][i];
        const @real@ x = (@cast@theta[i] - leaf_place[leaf][0][i]) * inverse;
        t[i][0] = 1.0;
        t[i][1] = x;
//@ if slopes
        d[i][0] = 0.0;
        d[i][1] = inverse;
//@ end
@recurrence@    }
//@ if looped
    {
        int k;
        b[0] = 1.0;
//@ if slopes
        for (i = 0; i < AXES; ++i) db[i][0] = 0.0;
//@ end
        for (k = 1; k < @terms@; ++k) {
            const int parent = term_steps[k][0], axis = term_steps[k][1], n = term_steps[k][2];
            b[k] = b[parent] * t[axis][n];
//@ if slopes
            for (i = 0; i < AXES; ++i) db[i][k] = db[i][parent] * t[axis][n];
            db[axis][k] = b[parent] * d[axis][n];
//@ end
        }
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
