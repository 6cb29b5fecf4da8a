//@ part set

int @prefix@_set_parameters(@prefix@_parameters *parameters, const double mu[@UPPER@_PARAMETERS])
{
    double at[PARAMETERS];
    @real@ t[PARAMETERS][@degrees@], sums[COLUMNS];
    int leaf, i, k, n, o, term, row = 0@box@, flag = @UPPER@_INSIDE;
    for (i = 0; i < PARAMETERS; ++i) {
        at[i] = mu[i];
#if @UPPER@_CLAMP
        if (at[i] < range[0][i]) at[i] = range[0][i], flag = @UPPER@_CLAMPED;
        if (at[i] > range[1][i]) at[i] = range[1][i], flag = @UPPER@_CLAMPED;
#endif
        if (!(at[i] >= range[0][i] && at[i] <= range[1][i])) return @UPPER@_OUTSIDE;
    }
    for (leaf = 0; leaf < LEAVES; ++leaf) {
        int met = 1;
        for (i = 0; i < PARAMETERS; ++i)
            met &= (met_from[leaf][i] <= at[i])
                   & ((at[i] < met_to[leaf][i]) | (met_end[leaf][i] & (at[i] <= met_to[leaf][i])));
        parameters->rows[leaf] = 0;
//@ if exact
        parameters->boxes[leaf] = 0;
//@ end
        if (!met) continue;
        if (row + @terms@ > ROWS) return @UPPER@_UNDEFINED; /* cannot happen: ROWS is that of the largest slice */
        for (i = 0; i < PARAMETERS; ++i) {
            const @real@ x = (@cast@at[i] - leaf_place[leaf][0][AXES + i]) * leaf_place[leaf][1][AXES + i];
            t[i][0] = 1.0;
            t[i][1] = x;
            for (n = 2; n < @degrees@; ++n) t[i][n] = 2.0 * x * t[i][n - 1] - t[i][n - 2];
        }
        parameters->rows[leaf] = row;
//@ if exact
        parameters->boxes[leaf] = box;
//@ end
        for (term = 0; term < @terms@; ++term, ++row) {
            double *const to = parameters->coefficients + row * COLUMNS;
            for (o = 0; o < COLUMNS; ++o) sums[o] = 0.0;
            for (n = first_term[term + 1] - 1; n >= first_term[term]; --n) { /* smallest terms (high degrees) first */
                const double *from;
                @real@ weight = 1.0;
                k = slice_terms[n];
                if (k >= @family_terms@) continue;
                from = family + (FAMILY_ROW(leaf) + k) * COLUMNS;
                for (i = 0; i < PARAMETERS; ++i) weight *= t[i][term_degrees[k][i]];
                for (o = 0; o < COLUMNS; ++o) sums[o] += weight * @cast@from[o];
//@ if exact
                for (o = 0; term == 0 && o < @pairs@; ++o)
                    sums[@mass@ + o] += weight * @cast@family_rest[leaf][n][o];
//@ end
            }
            for (o = 0; o < COLUMNS; ++o) to[o] = (double)sums[o];
//@ if exact
            for (o = 0; term == 0 && o < @pairs@; ++o)
                parameters->mass_rest[box][o] = (double)(sums[@mass@ + o] - @cast@to[@mass@ + o]);
            if (term == 0) ++box;
//@ end
        }
    }
    for (i = 0; i < PARAMETERS; ++i) parameters->mu[i] = at[i];
    return flag;
}
