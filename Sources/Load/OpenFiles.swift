#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Limit of open files and connections of the process.
enum OpenFiles {
    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    /// Raises the soft limit to the hard limit, and returns it.
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
    /// Descriptors of one agent while all agents run: a connection to each relay, two more per relay with a gate, and
    /// the five files of a database with two readers.
    private var openFilesPerAgent: Int {
        relays.count + 2 * Set(faults.compactMap(\.relay)).count + (agents.state == .disk ? 7 : 0)
    }

    /// Throws `LoadError.Code.badPlan` if the agents need more descriptors than the process may open.
    func checkOpenFiles(limit: Int) throws(LoadError) {
        let others = 200
        let needed = agents.count * openFilesPerAgent + others
        guard needed > limit else { return }
        throw LoadError(
            .badPlan,
            "load.agents.count: \(agents.count) agents need about \(needed) open files and connections, but this process "
                + "may open \(limit); use at most \(max(1, (limit - others) / openFilesPerAgent)) agents, or raise the limit "
                + "(ulimit -n)")
    }
}
