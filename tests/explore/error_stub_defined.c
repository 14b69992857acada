//@ command = "nearmiss explore error_stub_defined.c --function twice --stub once"
//@ error = ["--stub once: error_stub_defined.c defines it"]
// What is defined is called as it is.
int once(int n) { return n; }
int twice(int n) { return once(n) + once(n); }
