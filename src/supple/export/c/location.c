//@ part tree

static int locate(const double theta[@axes@])
{
    int root, i;
    for (root = 0; root < ROOTS; ++root) {
        int inside = 1;
        int child = root_child[root];
        for (i = 0; i < @axes@; ++i)
            inside &= (root_bounds[root][0][i] <= theta[i]) & (theta[i] <= root_bounds[root][1][i]);
        if (!inside) continue;
//@ if nodes
        while (child >= 0) child = nodes[child].child[theta[nodes[child].axis] >= nodes[child].cut];
//@ end
        if (child != NOWHERE) return -2 - child;
    }
    return NOWHERE;
}
//@ part grid

static int locate(const double theta[@axes@])
{
    int cell = 0, i;
    for (i = 0; i < @axes@; ++i) {
        const double *edge = edges + first_edge[i];
        const double x = theta[i];
        double quotient, rest;
        int k;
        if (!(edge[0] <= x && x <= edge[boxes[i]])) return NOWHERE;
        quotient = (x - edge[0]) * per_length[i];
        k = (int)quotient;
        rest = quotient - (double)k;
        if (k >= boxes[i]) k = boxes[i] - 1; /* rounding must not lead beyond the last cell */
        if (rest < CLOSE || rest > 1.0 - CLOSE) { /* near an edge, compare with its exact value */
            k -= (k > 0) & (x < edge[k]);
            k += (k + 1 < boxes[i]) & (x >= edge[k + 1]);
        }
        cell = cell * boxes[i] + k;
    }
    return cell;
}
//@ part place
#if @UPPER@_CLAMP
@region@#define HELD(k, at, x) ((k) < AXES && ((at)[k] < (x)[k] || (at)[k] > (x)[k])) /* clamped: derivative is zero */
#else
#define HELD(k, at, x) 0
#endif

//@ if family
/* Finds the box of theta at the parameters, and the clamped theta; NOWHERE outside the region or if theta is NaN. */
//@ else
/* Finds the box of theta, and the clamped theta; NOWHERE outside the region or if theta is NaN. */
//@ end
static int place(const double *theta, double at[AXES], int *flag)
{
//@ if family
    double x[PLACES];
//@ end
    int i;
    *flag = @UPPER@_INSIDE;
    for (i = 0; i < AXES; ++i) {
        at[i] = theta[i];
#if @UPPER@_CLAMP
        if (at[i] < region[0][i]) at[i] = region[0][i], *flag = @UPPER@_CLAMPED;
        if (at[i] > region[1][i]) at[i] = region[1][i], *flag = @UPPER@_CLAMPED;
#endif
//@ if family
        x[i] = at[i];
//@ end
    }
//@ if family
    for (i = 0; i < PARAMETERS; ++i) x[AXES + i] = p->mu[i];
    return locate(x);
//@ else
    return locate(at);
//@ end
}
