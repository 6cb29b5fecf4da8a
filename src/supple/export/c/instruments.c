//@ part declared
/* Instruments. */
enum { @UPPER@_OUTPUTS = @outputs@ };

#ifndef @UPPER@_HISTORY
#define @UPPER@_HISTORY 64 /* stored samples; must be at least two more than the longest delay in samples */
#endif

typedef struct {
    double sample_time, filter[@outputs@][2], input[@outputs@], noise[@outputs@], zero[@outputs@], reading[@outputs@];
    double history[@outputs@][@UPPER@_HISTORY];
    int begun, last, wait[@outputs@];
} @prefix@_instruments;

/* Call before the first reading; sample_time must stay constant. Returns 1 if it is not a positive number, or if a delay
   exceeds the stored history; the instruments are then unchanged. */
int @prefix@_instruments_start(@prefix@_instruments *instruments, double sample_time);

/* Readings of the true outputs at the next sample. normal: standard normal numbers, first for noise, then for bias
   drift. Returns 1 if one of these is NaN or beyond 1e15; instruments and reading are then unchanged. */
int @prefix@_instruments_read(@prefix@_instruments *instruments, const double truth[@outputs@],
                              double normal[2][@outputs@], double reading[@outputs@]);

//@ part written

#define LONGEST 1e6 /* samples of an instrument's own period, and radians of its filter in a sample */

int @prefix@_instruments_start(@prefix@_instruments *instruments, double sample_time)
{
    int i;
    if (!(sample_time > 0.0) || !in_range(&sample_time, 1)) return 1;
    for (i = 0; i < OUTPUTS; ++i) {
        if (!(reads[i][LATE] / sample_time + 2.0 <= @UPPER@_HISTORY)) return 1;
        if (!(reads[i][OWN] / sample_time < LONGEST) || !(reads[i][CORNER] * sample_time < LONGEST)) return 1;
        instruments->wait[i] = 0;
    }
    instruments->sample_time = sample_time;
    instruments->begun = instruments->last = 0;
    return 0;
}

/* Output of the low-pass filter. The input is interpolated linearly since the previous sample. */
static double filtered(@prefix@_instruments *instruments, int i, double truth)
{
    const double T = instruments->sample_time, before = instruments->input[i];
    instruments->input[i] = truth;
    if (order[i] == 0) return truth;
    advance(&low_pass[i][0][0], order[i], 2, reads[i][CORNER], T, 0.0, before, (truth - before) / T,
            instruments->filter[i]);
    return instruments->filter[i][0];
}

int @prefix@_instruments_read(@prefix@_instruments *instruments, const double truth[@outputs@],
                              double normal[2][@outputs@], double reading[@outputs@])
{
    const double T = instruments->sample_time;
    const int first = !instruments->begun, last = (instruments->last + 1) % @UPPER@_HISTORY;
    int i, m;
    if (!in_range(truth, OUTPUTS) || !in_range(normal[0], OUTPUTS) || !in_range(normal[1], OUTPUTS)) return 1;
    instruments->begun = 1;
    instruments->last = last;
    for (i = 0; i < OUTPUTS; ++i) {
        const double *fact = reads[i], late = fact[LATE] / T;
        const int every = fact[OWN] > T * (1.0 + 1e-6) ? (int)floor(fact[OWN] / T + 0.5) : 1;
        const int whole = (int)floor(late + 1e-6);
        const int newer = (last + @UPPER@_HISTORY - whole) % @UPPER@_HISTORY;
        const int older = (newer + @UPPER@_HISTORY - 1) % @UPPER@_HISTORY;
        const double part = late > (double)whole ? late - (double)whole : 0.0, own = T * (double)every;
        double *history = instruments->history[i], y;
        if (first) {
            instruments->filter[i][0] = instruments->input[i] = truth[i];
            instruments->filter[i][1] = 0.0;
            for (m = 0; m < @UPPER@_HISTORY; ++m) history[m] = truth[i];
        } else {
            history[last] = filtered(instruments, i, truth[i]);
        }
        if (instruments->wait[i] == 0) {
            instruments->wait[i] = every;
            const double phi = fact[COLOUR] > 0.0 ? exp(-6.283185307179586 * fact[COLOUR] * own) : 0.0;
            const double share = first ? 1.0 : sqrt(1.0 - phi * phi);
            instruments->noise[i] = (first ? 0.0 : phi * instruments->noise[i]) + fact[NOISE] * share * normal[0][i];
            instruments->zero[i] = first ? fact[BIAS] : instruments->zero[i] + fact[WALK] * sqrt(own) * normal[1][i];
            y = (1.0 - part) * history[newer];
            if (part > 0.0) y += part * history[older];
            y += instruments->noise[i] + instruments->zero[i];
            y = y < fact[LOWEST] ? fact[LOWEST] : y > fact[HIGHEST] ? fact[HIGHEST] : y;
            if (fact[STEP] > 0.0) y = fact[STEP] * rint(y / fact[STEP]);
            instruments->reading[i] = y;
        }
        --instruments->wait[i];
        reading[i] = instruments->reading[i];
    }
    return 0;
}
