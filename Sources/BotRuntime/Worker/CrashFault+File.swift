#if DEBUG
    import Foundation
    import PikaCore

    extension CrashFault {
        /// Returns a fault that traps at the point that a file names as `stage:name prefix`; nothing happens
        /// while the file does not exist. Debug builds only, for tests with real processes: a worker's variable
        /// `PIKABOT_TRAP` names the file.
        static func ofFile(_ path: String) -> CrashFault {
            CrashFault { stage, name in
                guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
                let parts = text.split(separator: ":", maxSplits: 1).map {
                    $0.trimmingCharacters(in: .whitespacesAndNewlines)
                }
                return parts.count == 2 && parts[0] == stage.rawValue && name.hasPrefix(parts[1])
            } trap: {
                fatalError("PIKABOT_TRAP")
            }
        }
    }
#endif
