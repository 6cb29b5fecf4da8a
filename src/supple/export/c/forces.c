//@ part forces

//@ if change
/* The same for derivatives of the columns and of their slopes: derivatives of M and of the forces but dry friction. */
//@ else
/* M, and the sum of all forces except M a and inputs, from the columns g and their slopes dg. */
//@ end
static void @name@(const @prefix@_parameters *p, const @real@ g[WIDE], @slopes@const double @state@[SIZE],
    const double rates[SIZE], @real@ M[SIZE][SIZE], @real@ sum[SIZE])
{
@body@}
