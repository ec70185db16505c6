import Foundation

/// What a worker leaves behind that is killed: the programs that it has started, which have process groups of their own
/// but are in its session. One that makes itself a session of its own gets away.
enum LeftProcesses {
    /// Kills what is left of a session whose leader has ended. Its number is nobody else's for as long as one of its
    /// members lives.
    static func kill(session: Int32) {
        // What is killed while it makes a child leaves that behind; a few rounds find them.
        for _ in 0..<4 {
            let members = members(of: session)
            guard !members.isEmpty else { return }
            for member in members { _ = Foundation.kill(member, SIGKILL) }
        }
    }

    static func members(of session: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        // A leader is another process under the number of the one that has ended.
        return names.compactMap(Int32.init).filter { $0 != session && getsid($0) == session }
    }
}
