# troupe_worker_path(file worker): writes a source that tells a program where its worker is. Targets that link Troupe
# compile it into themselves, because only the build of a program knows which installation it uses. Installed with the
# package, which calls it with the prefix where it is found.
function(troupe_worker_path file worker)
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [=[
// Where this program's Troupe has its worker. Made by CMake; a definition without `weak` takes its place.
extern "C" {
[[gnu::weak, gnu::visibility("default")]] extern const char troupe_worker_path[];
const char troupe_worker_path[] = "@worker@";
}
]=])
endfunction()
