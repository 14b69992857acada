static const char *header(void) { return __FILE__; }
