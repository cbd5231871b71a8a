#ifndef ALPHA
#define ALPHA 2 /* parameter, 0 to 10: packets */
#endif
#ifndef BETA
#define BETA 4.5 /* parameter, LPHA to 100.5: packets */
#endif
