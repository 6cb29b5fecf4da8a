//@ part curved

/* All Chebyshev products at a point, with their first and second derivatives. */
static void basis_curved(int leaf, const double *theta, double b[TERMS], double db[AXES][TERMS],
    double ddb[AXES][AXES][TERMS])
{
    double t[AXES][@degrees@][3];
    int i, j, k;
    for (i = 0; i < AXES; ++i) {
        const double inverse = leaf_place[leaf][1][i];
        const double x = (theta[i] - leaf_place[leaf][0][i]) * inverse;
        t[i][0][0] = 1.0, t[i][0][1] = 0.0, t[i][0][2] = 0.0;
        t[i][1][0] = x, t[i][1][1] = inverse, t[i][1][2] = 0.0;
        for (k = 2; k < @degrees@; ++k) {
            const double *one = t[i][k - 1], *two = t[i][k - 2];
            t[i][k][0] = 2.0 * x * one[0] - two[0];
            t[i][k][1] = 2.0 * (inverse * one[0] + x * one[1]) - two[1];
            t[i][k][2] = 2.0 * (2.0 * inverse * one[1] + x * one[2]) - two[2];
        }
    }
    b[0] = 1.0;
    for (i = 0; i < AXES; ++i) {
        db[i][0] = 0.0;
        for (j = 0; j < AXES; ++j) ddb[i][j][0] = 0.0;
    }
    for (k = 1; k < @terms@; ++k) {
        const int from = term_along[k][0], axis = term_along[k][1];
        const double *f = t[axis][term_along[k][2]];
        b[k] = b[from] * f[0];
        for (i = 0; i < AXES; ++i) {
            db[i][k] = i == axis ? b[from] * f[1] : db[i][from] * f[0];
            for (j = 0; j <= i; ++j) {
                ddb[i][j][k] = i == axis && j == axis ? b[from] * f[2]
                             : i == axis ? db[j][from] * f[1] : j == axis ? db[i][from] * f[1] : ddb[i][j][from] * f[0];
                ddb[j][i][k] = ddb[i][j][k];
            }
        }
    }
}
//@ part along

/* Computes term k of f as term `from` of g times h, with first and second time derivatives. */
static void product(double (*f)[TERMS], int k, double (*g)[TERMS], int from, const double h[3])
{
    f[2][k] = g[2][from] * h[0] + 2.0 * g[1][from] * h[1] + g[0][from] * h[2];
    f[1][k] = g[1][from] * h[0] + g[0][from] * h[1];
    f[0][k] = g[0][from] * h[0];
}

/* All Chebyshev products at a moving point, with their first and second time derivatives. Unless db is null, also the
   time derivatives of their gradients. */
static void basis_along(int leaf, const double *theta, const double *rates, const double *accelerations,
    double b[3][TERMS], double (*db)[3][TERMS])
{
    double t[AXES][@degrees@][3], d[AXES][@degrees@][3];
    int i, k, p;
    for (i = 0; i < AXES; ++i) {
        const double inverse = leaf_place[leaf][1][i];
        const double x = (theta[i] - leaf_place[leaf][0][i]) * inverse;
        const double v = rates[i] * inverse, a = accelerations[i] * inverse;
        for (p = 0; p < 3; ++p) t[i][0][p] = d[i][0][p] = d[i][1][p] = 0.0;
        t[i][0][0] = 1.0, d[i][1][0] = inverse;
        t[i][1][0] = x, t[i][1][1] = v, t[i][1][2] = a;
        for (k = 2; k < @degrees@; ++k) {
            const double *one = t[i][k - 1], *two = t[i][k - 2];
            t[i][k][0] = 2.0 * x * one[0] - two[0];
            t[i][k][1] = 2.0 * (v * one[0] + x * one[1]) - two[1];
            t[i][k][2] = 2.0 * (a * one[0] + 2.0 * v * one[1] + x * one[2]) - two[2];
            if (db) {
                const double *first = d[i][k - 1], *second = d[i][k - 2];
                d[i][k][0] = 2.0 * (inverse * one[0] + x * first[0]) - second[0];
                d[i][k][1] = 2.0 * (inverse * one[1] + v * first[0] + x * first[1]) - second[1];
                d[i][k][2] = 2.0 * (inverse * one[2] + a * first[0] + 2.0 * v * first[1] + x * first[2]) - second[2];
            }
        }
    }
    for (p = 0; p < 3; ++p) {
        b[p][0] = p == 0 ? 1.0 : 0.0;
        if (db)
            for (i = 0; i < AXES; ++i) db[i][p][0] = 0.0;
    }
    for (k = 1; k < @terms@; ++k) {
        const int from = term_along[k][0], axis = term_along[k][1], n = term_along[k][2];
        if (db)
            for (i = 0; i < AXES; ++i) {
                const int own = AXES == 1 || i == axis;
                product(db[i], k, own ? b : db[i], from, own ? d[i][n] : t[axis][n]);
            }
        product(b, k, b, from, t[axis][n]);
    }
}
