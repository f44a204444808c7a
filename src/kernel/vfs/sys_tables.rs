//! `/sys` of a machine with one CPU, whose caches are those of its CPUID, one node of memory and no
//! devices.

/// Directories without entries.
pub(super) const SYS_DIRS: [&str; 8] =
    ["block", "bus", "class", "dev", "firmware", "fs/cgroup", "module", "power"];

/// Directories of files, each with its text.
pub(super) const SYS_FILES: [(&str, &[(&str, &str)]); 10] = [
    (
        "devices/system/cpu",
        &[
            ("isolated", "\n"),
            ("kernel_max", "0\n"),
            ("offline", "\n"),
            ("online", "0\n"),
            ("possible", "0\n"),
            ("present", "0\n"),
        ],
    ),
    ("devices/system/cpu/smt", &[("active", "0\n"), ("control", "notsupported\n")]),
    (
        "devices/system/cpu/cpu0/topology",
        &[
            ("core_cpus", "1\n"),
            ("core_cpus_list", "0\n"),
            ("core_id", "0\n"),
            ("core_siblings", "1\n"),
            ("core_siblings_list", "0\n"),
            ("die_cpus", "1\n"),
            ("die_cpus_list", "0\n"),
            ("die_id", "0\n"),
            ("package_cpus", "1\n"),
            ("package_cpus_list", "0\n"),
            ("physical_package_id", "0\n"),
            ("thread_siblings", "1\n"),
            ("thread_siblings_list", "0\n"),
        ],
    ),
    (
        "devices/system/cpu/cpu0/cache/index0",
        &[
            ("coherency_line_size", "64\n"),
            ("id", "0\n"),
            ("level", "1\n"),
            ("number_of_sets", "64\n"),
            ("physical_line_partition", "1\n"),
            ("shared_cpu_list", "0\n"),
            ("shared_cpu_map", "1\n"),
            ("size", "32K\n"),
            ("type", "Data\n"),
            ("ways_of_associativity", "8\n"),
        ],
    ),
    (
        "devices/system/cpu/cpu0/cache/index1",
        &[
            ("coherency_line_size", "64\n"),
            ("id", "0\n"),
            ("level", "1\n"),
            ("number_of_sets", "64\n"),
            ("physical_line_partition", "1\n"),
            ("shared_cpu_list", "0\n"),
            ("shared_cpu_map", "1\n"),
            ("size", "32K\n"),
            ("type", "Instruction\n"),
            ("ways_of_associativity", "8\n"),
        ],
    ),
    (
        "devices/system/cpu/cpu0/cache/index2",
        &[
            ("coherency_line_size", "64\n"),
            ("id", "0\n"),
            ("level", "2\n"),
            ("number_of_sets", "512\n"),
            ("physical_line_partition", "1\n"),
            ("shared_cpu_list", "0\n"),
            ("shared_cpu_map", "1\n"),
            ("size", "256K\n"),
            ("type", "Unified\n"),
            ("ways_of_associativity", "8\n"),
        ],
    ),
    (
        "devices/system/cpu/cpu0/cache/index3",
        &[
            ("coherency_line_size", "64\n"),
            ("id", "0\n"),
            ("level", "3\n"),
            ("number_of_sets", "8192\n"),
            ("physical_line_partition", "1\n"),
            ("shared_cpu_list", "0\n"),
            ("shared_cpu_map", "1\n"),
            ("size", "8192K\n"),
            ("type", "Unified\n"),
            ("ways_of_associativity", "16\n"),
        ],
    ),
    (
        "devices/system/node",
        &[
            ("has_cpu", "0\n"),
            ("has_memory", "0\n"),
            ("has_normal_memory", "0\n"),
            ("online", "0\n"),
            ("possible", "0\n"),
        ],
    ),
    ("devices/system/node/node0", &[("cpulist", "0\n"), ("cpumap", "1\n"), ("distance", "10\n")]),
    (
        "kernel/mm/transparent_hugepage",
        &[
            ("defrag", "always defer defer+madvise [madvise] never\n"),
            ("enabled", "always [madvise] never\n"),
            ("hpage_pmd_size", "2097152\n"),
            ("shmem_enabled", "always within_size advise [never] deny force\n"),
            ("use_zero_page", "1\n"),
        ],
    ),
];
