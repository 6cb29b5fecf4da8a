//@ part signature

casadi_int @name@_n_in(void) { return @inputs@; }
casadi_int @name@_n_out(void) { return @outputs@; }
const casadi_int *@name@_sparsity_in(casadi_int i) { switch (i) { @in_cases@ default: return 0; } }
const casadi_int *@name@_sparsity_out(casadi_int i) { switch (i) { @out_cases@ default: return 0; } }
int @name@_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w)
{
    *arg = @inputs@; *res = @outputs@; *iw = 0; *w = 0;
    return 0;
}
//@ part names
const char *@name@_name_@way@(casadi_int i) { switch (i) { @cases@ default: return 0; } }
