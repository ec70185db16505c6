import Foundation

/// Kills processes that a worker leaves behind: the programs that it has started, which have process groups of their
/// own but belong to its session. A process that has started a new session escapes.
enum OrphanedProcesses {
    /// Kills the remaining members of a session whose leader has ended. The session id cannot be reused while a member
    /// lives.
    static func kill(session: Int32) {
        // A process that is killed while it forks leaves a child; a few rounds find those.
        for _ in 0..<4 {
            let members = members(of: session)
            guard !members.isEmpty else { return }
            for member in members { _ = Foundation.kill(member, SIGKILL) }
        }
    }

    static func members(of session: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        // A process whose id equals the session id is a new one that reuses the ended leader's id.
        return names.compactMap(Int32.init).filter { $0 != session && getsid($0) == session }
    }
}
