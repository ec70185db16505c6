package import BotConfiguration
package import Foundation
package import Logging
import Nostr
import Synchronization
import Telemetry

/// Log lines on standard error: text, or one JSON object per line.
///
/// Messages and metadata may contain untrusted text; every record is one line without control characters.
package struct StandardErrorLog: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel: Logger.Level {
        get { ownLevel ?? Self.level }
        set { ownLevel = newValue }
    }
    private var ownLevel: Logger.Level?
    private let label: String
    private let format: ObservationConfiguration.LogFormat

    package init(label: String, format: ObservationConfiguration.LogFormat) {
        self.label = label
        self.format = format
    }

    private static let currentLevel = Mutex(Logger.Level.info)

    /// The minimum level of loggers without their own level; can change at any time.
    package static var level: Logger.Level {
        get { currentLevel.withLock { $0 } }
        set { currentLevel.withLock { $0 = newValue } }
    }

    /// Installs this handler for all loggers of the process; may be called once per process.
    package static func bootstrap(level: Logger.Level, format: ObservationConfiguration.LogFormat = .text) {
        Self.level = level
        LoggingSystem.bootstrap { StandardErrorLog(label: $0, format: format) }
    }

    package static func bootstrap(_ configuration: ObservationConfiguration) {
        bootstrap(level: configuration.loggerLevel, format: configuration.logs)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        Console.printError(line(of: event, at: Date()))
    }

    package func line(of event: LogEvent, at date: Date) -> String {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let sorted = fields.sorted { $0.key < $1.key }
        switch format {
        case .text:
            let pairs = sorted.map { " \($0.key)=\($0.value)" }.joined()
            return "\(time) \(event.level) \(label): \(event.message)\(pairs)".terminalLine
        case .json:
            var line: JSONObject = [
                "time": .string(time), "level": .string(event.level.rawValue), "logger": .string(label),
                "message": .string(event.message.description),
            ]
            for (key, value) in sorted { line[key] = .string(value.description) }
            return JSONValue.object(line).jsonText.terminalLine
        }
    }
}

extension ObservationConfiguration {
    package var loggerLevel: Logger.Level { Logger.Level(rawValue: level.rawValue) ?? .info }
}
