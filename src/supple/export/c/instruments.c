//@ part declared
/* Instruments. */
enum { @UPPER@_OUTPUTS = @outputs@ };

#ifndef @UPPER@_HISTORY
#define @UPPER@_HISTORY 64 /* stored samples; must be at least two more than the longest delay in samples */
#endif

typedef struct {
    double sample_time, filter[@outputs@][2], input[@outputs@], noise[@outputs@], zero[@outputs@], reading[@outputs@];
    double history[@outputs@][@UPPER@_HISTORY];
    long count;
} @prefix@_instruments;

/* Call before the first reading; sample_time must stay constant. Returns 1 if a delay exceeds the stored history. */
int @prefix@_instruments_start(@prefix@_instruments *instruments, double sample_time);

/* Readings of the true outputs at the next sample. normal: standard normal numbers, first for noise, then for bias drift. */
void @prefix@_instruments_read(@prefix@_instruments *instruments, const double truth[@outputs@],
                               double normal[2][@outputs@], double reading[@outputs@]);

//@ part written

int @prefix@_instruments_start(@prefix@_instruments *instruments, double sample_time)
{
    int i;
    instruments->sample_time = sample_time;
    instruments->count = 0;
    for (i = 0; i < OUTPUTS; ++i)
        if (reads[i][LATE] / sample_time + 2.0 > @UPPER@_HISTORY) return 1;
    return 0;
}

static long modulo(long k, long count)
{
    return (k % count + count) % count;
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

void @prefix@_instruments_read(@prefix@_instruments *instruments, const double truth[@outputs@],
                               double normal[2][@outputs@], double reading[@outputs@])
{
    const double T = instruments->sample_time;
    const long k = instruments->count++;
    int i, m;
    for (i = 0; i < OUTPUTS; ++i) {
        const double *fact = reads[i], late = fact[LATE] / T;
        const long every = fact[OWN] > T * (1.0 + 1e-6) ? (long)floor(fact[OWN] / T + 0.5) : 1;
        const long whole = (long)floor(late + 1e-6);
        const double part = late > (double)whole ? late - (double)whole : 0.0, own = T * (double)every;
        double *history = instruments->history[i], y;
        if (k == 0) {
            instruments->filter[i][0] = instruments->input[i] = truth[i];
            instruments->filter[i][1] = 0.0;
            for (m = 0; m < @UPPER@_HISTORY; ++m) history[m] = truth[i];
        } else {
            history[modulo(k, @UPPER@_HISTORY)] = filtered(instruments, i, truth[i]);
        }
        if (k % every == 0) {
            const double phi = fact[COLOUR] > 0.0 ? exp(-6.283185307179586 * fact[COLOUR] * own) : 0.0;
            const double share = k == 0 ? 1.0 : sqrt(1.0 - phi * phi);
            instruments->noise[i] = (k == 0 ? 0.0 : phi * instruments->noise[i]) + fact[NOISE] * share * normal[0][i];
            instruments->zero[i] = k == 0 ? fact[BIAS] : instruments->zero[i] + fact[WALK] * sqrt(own) * normal[1][i];
            y = (1.0 - part) * history[modulo(k - whole, @UPPER@_HISTORY)];
            if (part > 0.0) y += part * history[modulo(k - whole - 1, @UPPER@_HISTORY)];
            y += instruments->noise[i] + instruments->zero[i];
            y = y < fact[LOWEST] ? fact[LOWEST] : y > fact[HIGHEST] ? fact[HIGHEST] : y;
            if (fact[STEP] > 0.0) y = fact[STEP] * rint(y / fact[STEP]);
            instruments->reading[i] = y;
        }
        reading[i] = instruments->reading[i];
    }
}
