import Logging
import Synchronization

/// The log of all members of a lab, as text.
final class LabLog: Sendable {
    private let storage = Mutex<[String]>([])

    var lines: [String] { self.storage.withLock { $0 } }

    func logger(_ name: String) -> Logger {
        var logger = Logger(label: name) { _ in Handler(log: self, name: name) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: LabLog
        let name: String
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
            let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            self.log.storage.withLock { $0.append("\(self.name) \(event.level): \(event.message)\(pairs)") }
        }
    }
}
