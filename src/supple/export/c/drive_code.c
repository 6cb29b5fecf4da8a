//@ part declared
/* Drives. The command of input i acts through its drive. The force along its coordinate theta is then
       driven.force[i] - @prefix@_stiffness[i] theta - @prefix@_damping[i] d(theta)/dt,
   and the coordinates @prefix@_led[] are prescribed by driven.theta, .rate and .acceleration. */
enum { @UPPER@_INPUTS = @inputs@, @UPPER@_COORDINATES = @coordinates@, @UPPER@_LED = @led@ };

#ifndef @UPPER@_WAITING
#define @UPPER@_WAITING 64 /* capacity for delayed commands; must exceed the longest delay in samples */
#endif

typedef struct {
    double x[@inputs@][@states@], command[@inputs@], allowed[@inputs@];
    double arrives[@inputs@][@UPPER@_WAITING], carries[@inputs@][@UPPER@_WAITING];
    double rates[@coordinates@], span, elapsed;
    int pending[@inputs@];
} @prefix@_drives;

typedef struct {
    double force[@inputs@], theta[@leaders@], rate[@leaders@], acceleration[@leaders@];
} @prefix@_driven;

extern const double @prefix@_stiffness[@inputs@], @prefix@_damping[@inputs@];
extern const int @prefix@_led[@leaders@];

/* Sets the states to equilibrium at theta and its rates. command: output, the command of this equilibrium. */
void @prefix@_drives_start(@prefix@_drives *drives, const double theta[@coordinates@],
                           const double rates[@coordinates@], double command[@inputs@]);

/* Accepts new commands and returns the applied ones, after dead band, limits, rate limit and resolution. Returns 1 and
   accepts none if too many delayed commands are pending. */
int @prefix@_drives_take(@prefix@_drives *drives, const double command[@inputs@], double applied[@inputs@]);

/* Advances the drives by a duration. rates: present rates of the coordinates. driven: output, values at the end. */
void @prefix@_drives_advance(@prefix@_drives *drives, double duration, const double rates[@coordinates@],
                             @prefix@_driven *driven);

//@ part taylor

/* dx/dt = A x + B c + E w at one instant. The rows of a block hold A, B, E and P side by side. */
static void rates_of(const double *block, int n, int size, const double *x, double c, double w, double *rate)
{
    int r, s;
    for (r = 0; r < n; ++r) {
        const double *row = block + r * (size + 3);
        rate[r] = row[size] * c + row[size + 1] * w;
        for (s = 0; s < n; ++s) rate[r] += row[s] * x[s];
    }
}

/* Advances x by a length, exactly for constant c and w linear in time: Taylor series in steps in which it converges. */
static void advance(const double *block, int n, int size, double fastest, double length, double c, double w,
                    double slope, double *x)
{
    const int count = length * fastest > @stride@ ? (int)ceil(length * fastest / @stride@) : 1;
    const double h = length / (double)count;
    double term[2][@most@];
    int stride, k, r, s;
    for (stride = 0; stride < count; ++stride) {
        rates_of(block, n, size, x, c, w + slope * h * (double)stride, term[0]);
        for (r = 0; r < n; ++r) term[0][r] *= h;
        for (k = 0; k < @terms@; ++k) { /* terms with their powers of h: alone these would overflow in single precision */
            const double *now = term[k % 2];
            double *after = term[(k + 1) % 2];
            for (r = 0; r < n; ++r) x[r] += now[r];
            for (r = 0; r < n; ++r) {
                const double *row = block + r * (size + 3);
                after[r] = k == 0 ? row[size + 1] * slope * h : 0.0;
                for (s = 0; s < n; ++s) after[r] += row[s] * now[s];
                after[r] *= h / (double)(k + 2);
            }
        }
    }
}
//@ part written

static double between(double value, double least, double largest)
{
    return value < least ? least : value > largest ? largest : value;
}

void @prefix@_drives_start(@prefix@_drives *drives, const double theta[@coordinates@],
                           const double rates[@coordinates@], double command[@inputs@])
{
    int i, r, k;
    for (i = 0; i < INPUTS; ++i) {
        const double at = acts_on[i] < 0 ? 0.0 : theta[acts_on[i]], moving = acts_on[i] < 0 ? 0.0 : rates[acts_on[i]];
        for (r = 0; r < STATES; ++r) drives->x[i][r] = settled[i][r][0] * at + settled[i][r][1] * moving;
        command[i] = settled[i][STATES][0] * at + settled[i][STATES][1] * moving;
        drives->command[i] = drives->allowed[i] = command[i];
        drives->pending[i] = 0;
    }
    for (k = 0; k < COORDINATES; ++k) drives->rates[k] = rates[k];
    drives->span = drives->elapsed = 0.0;
}

int @prefix@_drives_take(@prefix@_drives *drives, const double command[@inputs@], double applied[@inputs@])
{
    int i;
    for (i = 0; i < INPUTS; ++i)
        if (drives->pending[i] == @UPPER@_WAITING) return 1;
    for (i = 0; i < INPUTS; ++i) {
        const double *fact = facts[i], most = fact[RATE_LIMIT] * drives->elapsed;
        double c = command[i];
        c = fabs(c) <= fact[DEAD_BAND] ? 0.0 : c > 0.0 ? c - fact[DEAD_BAND] : c + fact[DEAD_BAND];
        c = between(c, fact[LEAST], fact[LARGEST]);
        if (fact[RATE_LIMIT] < DBL_MAX) c = between(c, drives->allowed[i] - most, drives->allowed[i] + most);
        drives->allowed[i] = c;
        if (fact[RESOLUTION] > 0.0) c = fact[RESOLUTION] * rint(c / fact[RESOLUTION]);
        applied[i] = c;
        drives->arrives[i][drives->pending[i]] = fact[DELAY];
        drives->carries[i][drives->pending[i]] = c;
        ++drives->pending[i];
    }
    drives->elapsed = 0.0;
    return 0;
}

/* Applies the delayed commands that have arrived by now. */
static void arrive(@prefix@_drives *drives, int i, double now)
{
    int felt = 0, m;
    while (felt < drives->pending[i] && drives->arrives[i][felt] <= now)
        drives->command[i] = drives->carries[i][felt++];
    drives->pending[i] -= felt;
    for (m = 0; felt && m < drives->pending[i]; ++m) {
        drives->arrives[i][m] = drives->arrives[i][m + felt];
        drives->carries[i][m] = drives->carries[i][m + felt];
    }
}

static void show(const @prefix@_drives *drives, int i, double w, @prefix@_driven *driven)
{
    const double c = drives->command[i];
    double rate[STATES], y = facts[i][FEEDS] * c, slope = 0.0, second = 0.0;
    const int led = place[i][1];
    int r, s;
    rates_of(&blocks[i][0][0], place[i][0], STATES, drives->x[i], c, w, rate);
    for (r = 0; r < place[i][0]; ++r) {
        y += blocks[i][r][STATES + 2] * drives->x[i][r];
        slope += blocks[i][r][STATES + 2] * rate[r];
        for (s = 0; s < place[i][0]; ++s) second += blocks[i][r][STATES + 2] * blocks[i][r][s] * rate[s];
    }
    driven->force[i] = led < 0 ? y : 0.0;
    if (led < 0) return;
    driven->theta[led] = y;
    driven->rate[led] = slope;
    driven->acceleration[led] = second;
}

void @prefix@_drives_advance(@prefix@_drives *drives, double duration, const double rates[@coordinates@],
                             @prefix@_driven *driven)
{
    const double close = @together@ * duration;
    double slopes[COORDINATES], now = 0.0;
    int i, k, m;
    for (k = 0; k < COORDINATES; ++k) {
        slopes[k] = drives->span > 0.0 ? (rates[k] - drives->rates[k]) / drives->span : 0.0;
        drives->rates[k] = rates[k];
    }
    while (now < duration - close) {
        double length = duration - now;
        for (i = 0; i < INPUTS; ++i) {
            arrive(drives, i, now + close);
            if (drives->pending[i] && drives->arrives[i][0] < now + length - close)
                length = drives->arrives[i][0] - now;
        }
        for (i = 0; i < INPUTS; ++i) {
            const double slope = place[i][2] < 0 ? 0.0 : slopes[place[i][2]];
            const double w = place[i][2] < 0 ? 0.0 : rates[place[i][2]] + slope * now;
            advance(&blocks[i][0][0], place[i][0], STATES, facts[i][FASTEST], length, drives->command[i], w, slope,
                    drives->x[i]);
        }
        now += length;
    }
    for (i = 0; i < INPUTS; ++i) {
        k = place[i][2];
        show(drives, i, k < 0 ? 0.0 : rates[k] + slopes[k] * duration, driven);
        for (m = 0; m < drives->pending[i]; ++m) drives->arrives[i][m] -= duration;
    }
    drives->span = duration;
    drives->elapsed += duration;
}
//@ part slots
enum { FEEDS, FASTEST, SLOWEST, DELAY, LEAST, LARGEST, RATE_LIMIT, DEAD_BAND, RESOLUTION, REACH };
