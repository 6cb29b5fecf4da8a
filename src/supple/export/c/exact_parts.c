//@ part type

#ifndef @UPPER@_EXACT
#define @UPPER@_EXACT 1
#endif
#if @UPPER@_EXACT
typedef double exact;
#define ROOT (sqrt)
#else
typedef double inexact;
typedef inexact exact;
#define ROOT sqrt
#endif
