//@ part set

int @prefix@_set_parameters(@prefix@_parameters *parameters, const double mu[@UPPER@_PARAMETERS])
{
    double at[PARAMETERS];
    @real@ t[PARAMETERS][@degrees@], sums[COLUMNS];
    int leaf, i, n, o, term, row = 0@box@, flag = @UPPER@_INSIDE;
    for (i = 0; i < PARAMETERS; ++i) {
        at[i] = mu[i];
#if @UPPER@_CLAMP
        if (at[i] < range[0][i]) at[i] = range[0][i], flag = @UPPER@_CLAMPED;
        if (at[i] > range[1][i]) at[i] = range[1][i], flag = @UPPER@_CLAMPED;
#endif
        if (!(at[i] >= range[0][i] && at[i] <= range[1][i])) return @UPPER@_OUTSIDE;
    }
    for (leaf = 0; leaf < LEAVES; ++leaf) {
        const int shape = @shape@;
        int met = 1;
        for (i = 0; i < PARAMETERS; ++i)
            met &= (met_from[leaf][i] <= at[i])
                   & ((at[i] < met_to[leaf][i]) | (met_end[leaf][i] & (at[i] <= met_to[leaf][i])));
        parameters->rows[leaf] = 0;
//@ if exact
        parameters->boxes[leaf] = 0;
//@ end
        if (!met) continue;
        if (row + slice_terms[shape] > ROWS) return @UPPER@_UNDEFINED; /* cannot happen: ROWS is that of the largest slice */
        for (i = 0; i < PARAMETERS; ++i) {
            const @real@ x = (@cast@at[i] - leaf_place[leaf][0][AXES + i]) * leaf_place[leaf][1][AXES + i];
            t[i][0] = 1.0;
            t[i][1] = x;
            for (n = 2; n < @degrees@; ++n) t[i][n] = x * t[i][n - 1];
        }
        parameters->rows[leaf] = row;
//@ if exact
        parameters->boxes[leaf] = box;
//@ end
        for (term = 0; term < slice_terms[shape]; ++term, ++row) {
            double *const to = parameters->coefficients + row * COLUMNS;
//@ if exact
            const int last = term + 1 == slice_terms[shape]; /* the constant term in theta */
//@ end
            for (o = 0; o < COLUMNS; ++o) sums[o] = 0.0;
            for (n = first_term[shape][term]; n < first_term[shape][term + 1]; ++n) { /* high degrees first */
                const double *const from = family + (FAMILY_ROW(leaf) + n) * COLUMNS;
                @real@ weight = 1.0;
                for (i = 0; i < PARAMETERS; ++i) weight *= t[i][term_powers[shape][n][i]];
                for (o = 0; o < COLUMNS; ++o) sums[o] += weight * @cast@from[o];
//@ if exact
                for (o = 0; last && o < MASS_COLUMNS; ++o)
                    sums[mass_place[o]] += weight * @cast@family_rest[leaf][n - first_term[shape][term]][o];
//@ end
            }
            for (o = 0; o < COLUMNS; ++o) to[o] = (double)sums[o];
//@ if exact
            for (o = 0; last && o < MASS_COLUMNS; ++o)
                parameters->mass_rest[box][o] = (double)(sums[mass_place[o]] - @cast@to[mass_place[o]]);
            if (last) ++box;
//@ end
        }
    }
    for (i = 0; i < PARAMETERS; ++i) parameters->mu[i] = at[i];
    return flag;
}
