#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Files and connections that one process may have open.
enum OpenFiles {
    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    /// Raises the limit as far as an ordinary process may, and returns it.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
        guard getrlimit(resource, &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }
}

extension LoadPlan {
    /// What its agents have open when all of them run: a connection to each relay, two more where a gate lies between,
    /// and the five files of a database, with room for two readers.
    private var openFilesOfAnAgent: Int {
        relays.count + 2 * Set(faults.compactMap(\.relay)).count + (agents.state == .disk ? 7 : 0)
    }

    /// Throws ``LoadError/Code/badPlan`` if the agents need more files and connections than the process may have open.
    func checkOpenFiles(limit: Int) throws(LoadError) {
        let others = 200
        let needed = agents.count * openFilesOfAnAgent + others
        guard needed > limit else { return }
        throw LoadError(
            .badPlan,
            "load.agents.count: \(agents.count) agents need about \(needed) open files and connections, and this process "
                + "may have \(limit); ask for at most \(max(1, (limit - others) / openFilesOfAnAgent)), or raise the limit "
                + "(ulimit -n)")
    }
}
