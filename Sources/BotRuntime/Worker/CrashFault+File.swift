#if DEBUG
    import Foundation
    import PikaCore

    extension CrashFault {
        /// Traps at what a file names as `stage:beginning of the name`; nothing while it is not there. In debug builds
        /// only, for tests with real processes: the variable `PIKABOT_TRAP` of a worker names the file.
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
