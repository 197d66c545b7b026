// DTRACE_LIB_DIR: where libdtrace.so is, if the linker does not find it by itself.
fn main() {
    println!("cargo:rerun-if-env-changed=DTRACE_LIB_DIR");
    println!("cargo:rustc-link-lib=dylib=dtrace");
    if let Ok(dir) = std::env::var("DTRACE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", dir);
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", dir);
    }
}
