import Diagnosis
import Foundation
import PikaCore
import Storage

/// Checks that an account can store its state in the configured directory.
struct StateFindings: Sendable {
    let directory: String

    private static let leastBytes: UInt64 = 64 << 20
    private static let wantedBytes: UInt64 = 512 << 20

    func run(subject: String) -> [Finding] {
        var findings = FindingList(subject)
        let place = existingPlace
        guard place == directory else {
            if access(place, W_OK | X_OK) == 0 {
                findings.ok("state", "\(directory) will be created at the first start")
            } else {
                findings.error(
                    "state", "\(directory) does not exist and cannot be created in \(place): \(Self.reason)",
                    "create it, accessible only to the service's user, or let that user write to \(place)")
            }
            checkSpace(place, &findings)
            return findings.all
        }
        guard checkAccess(&findings) else { return findings.all }
        checkSpace(place, &findings)
        checkSealingKey(&findings)
        if let holder = StateDirectoryLock.holder(of: directory) {
            findings.ok("lock", "\(holder) uses \(directory)")
        } else {
            findings.ok("lock", "no process uses \(directory)")
        }
        return findings.all
    }

    /// The directory, or its nearest existing parent.
    private var existingPlace: String {
        var place = directory
        while !FileManager.default.fileExists(atPath: place) {
            let above = URL(fileURLWithPath: place).deletingLastPathComponent().path
            guard above != place else { break }
            place = above
        }
        return place
    }

    private func checkAccess(_ findings: inout FindingList) -> Bool {
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            findings.error("state", "\(directory) is not a directory", "move the file away")
            return false
        }
        guard access(directory, R_OK | W_OK | X_OK) == 0 else {
            let reason = Self.reason
            findings.error(
                "state", "\(directory) is not writable by user \(geteuid()): \(reason)",
                "chown it to the service's user; if its disk is read-only, mount it for writing")
            return false
        }
        guard status.st_mode & 0o077 == 0 else {
            findings.warning("state", "other users can read \(directory)", "chmod 700 \(directory)")
            return true
        }
        findings.ok("state", "\(directory) is writable")
        return true
    }

    private func checkSpace(_ place: String, _ findings: inout FindingList) {
        var status = statvfs()
        guard statvfs(place, &status) == 0 else { return }
        let (bytes, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        let free = isTooMuch ? UInt64.max : bytes
        let text = "\(free >> 20) MiB free for \(directory)"
        switch free {
        case ..<Self.leastBytes:
            findings.error("space", text, "free some space: an account that cannot write its state stops at once")
        case ..<Self.wantedBytes: findings.warning("space", text, "free some space before it is full")
        default: findings.ok("space", text)
        }
    }

    private func checkSealingKey(_ findings: inout FindingList) {
        let key = directory + "/sealing.key"
        let hasState = FileManager.default.fileExists(atPath: directory + "/state.sqlite")
        guard FileManager.default.fileExists(atPath: key) else {
            guard hasState else { return }
            findings.error(
                "sealing key", "\(key) is missing, and the state cannot be read without it",
                "restore it from a copy; if there is none, move \(directory) away: the account must be invited again")
            return
        }
        do {
            let sealingKey = try SealingKey.load(file: key)
            findings.ok("sealing key", "\(key) can be read")
            checkQuarantine(sealingKey, &findings)
        } catch {
            findings.error("sealing key", error.message, "restore it from a copy, with mode 0600")
        }
    }

    private func checkQuarantine(_ key: SealingKey, _ findings: inout FindingList) {
        do {
            let entries = try AccountStore.quarantine(directory: directory, sealingKey: key)
            for entry in entries {
                findings.warning(
                    "quarantine", "quarantined: \(QuarantineView.line(entry.summary))",
                    "report the crash with the log; after an update: pikabot quarantine FILE ACCOUNT --release \(entry.subject)"
                )
            }
            if entries.isEmpty { findings.ok("quarantine", "nothing is quarantined") }
        } catch {
            findings.error(
                "quarantine", error.message,
                "move the file away; items that crash workers are quarantined again after two crashes")
        }
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
