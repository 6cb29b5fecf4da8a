//@ part deformed

/* Unpacks the nonzero rows of dM / ddelta; these are the first ones, including those of theta. */
static void slope_rows(const double *packed, double full[SLOPED][SIZE][SIZE - AXES])
{
    int i, j, k;
    for (i = 0; i < SLOPED; ++i)
        for (j = i; j < SIZE; ++j)
            for (k = 0; k < SIZE - AXES; ++k) {
                if (j < SLOPED) full[j][i][k] = *packed;
                full[i][j][k] = *packed++;
            }
}

/* Adds the change with delta to full. */
static void deform(double full[SIZE][SIZE], double slope[SLOPED][SIZE][SIZE - AXES], const double *delta)
{
    int i, j, k;
    for (i = 0; i < SLOPED; ++i)
        for (j = 0; j < SIZE; ++j) {
            double sum = 0.0;
            for (k = 0; k < SIZE - AXES; ++k) sum += slope[i][j][k] * delta[k];
            full[i][j] += sum;
            if (j >= SLOPED) full[j][i] += sum;
        }
}
//@ part curved

/* Second-order terms in delta of the rows and columns of theta: full += delta' Q delta / 2, slope += Q delta. */
static void curve(const double *packed, double full[SIZE][SIZE], double slope[SLOPED][SIZE][SIZE - AXES],
    const double *delta)
{
    int i, j, a, b;
    for (i = 0; i < AXES; ++i)
        for (j = i; j < AXES; ++j) {
            double bent[SIZE - AXES] = {0.0}, sum = 0.0;
            for (a = 0; a < SIZE - AXES; ++a)
                for (b = a; b < SIZE - AXES; ++b) {
                    bent[a] += *packed * delta[b];
                    if (b > a) bent[b] += *packed * delta[a];
                    ++packed;
                }
            for (a = 0; a < SIZE - AXES; ++a) {
                sum += 0.5 * bent[a] * delta[a];
                slope[i][j][a] += bent[a];
                if (j > i) slope[j][i][a] += bent[a];
            }
            full[i][j] += sum;
            if (j > i) full[j][i] += sum;
        }
}
//@ part mass
    slope_rows(@mass_slope@, model->mass_slope);
    deform(model->M, model->mass_slope, eta + AXES);
//@ if mass_curvature
    curve(@mass_curvature@, model->M, model->mass_slope, eta + AXES);
//@ end
    for (i = 0; i < AXES; ++i) {
        double rows[SLOPED][SIZE][SIZE - AXES] = {{{0.0}}};
//@ if M_slope
        symmetric(@M_slope@, model->mass_gradient[i]);
//@ else
        static const double none[@M_width@] = {0.0};
        symmetric(none, model->mass_gradient[i]);
//@ end
//@ if mass_slope_slope
        slope_rows(@mass_slope_slope@, rows);
        deform(model->mass_gradient[i], rows, eta + AXES);
//@ end
//@ if mass_curvature_slope
        curve(@mass_curvature_slope@, model->mass_gradient[i], rows, eta + AXES);
//@ end
        if (more)
            for (j = 0; j < SLOPED; ++j)
                for (k = 0; k < SIZE; ++k)
                    for (a = 0; a < SIZE - AXES; ++a) more->gradient[i][j][k][a] = rows[j][k][a];
    }
//@ if mass_curvature
    for (i = 0; more && i < @mass_curvature_width@; ++i) more->curvature[i] = (@mass_curvature@)[i];
//@ end
