/// The environment of a program: what its configuration lists, and of the worker's own only these.
public enum ProgramEnvironment {
    /// What a program gets without being asked; a variable that the configuration lists takes the place of its own.
    public static let inherited = ["PATH", "HOME", "LANG"]

    public static func make(listed: [String: String], from worker: [String: String]) -> [String: String] {
        var environment = worker.filter { inherited.contains($0.key) }
        if environment["PATH"] == nil { environment["PATH"] = "/usr/local/bin:/usr/bin:/bin" }
        return environment.merging(listed) { $1 }
    }
}
