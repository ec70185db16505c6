/// The environment of a program: the variables in its configuration, and only these of the worker's own.
package enum ProgramEnvironment {
    /// The variables that every program inherits; the configuration may override them.
    package static let inherited = ["PATH", "HOME", "LANG"]

    package static func make(listed: [String: String], from worker: [String: String]) -> [String: String] {
        var environment = worker.filter { inherited.contains($0.key) }
        if environment["PATH"] == nil { environment["PATH"] = "/usr/local/bin:/usr/bin:/bin" }
        return environment.merging(listed) { $1 }
    }
}
