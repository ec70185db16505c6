package import FeedRules
import ProcessSupport
import Subprocess
import SystemPackage

/// Runs a program; each line of its standard output is an item. Its standard error is discarded.
///
/// The program has its own process group, which is killed when the feed ends.
package struct ProgramDriver: FeedDriver {
    private let settings: ProgramSettings

    package init(_ settings: ProgramSettings) {
        self.settings = settings
    }

    package func run(_ outlet: FeedOutlet) async throws {
        var generator = SystemRandomNumberGenerator()
        let ids = SharedStreamIDs(StreamIDs(field: settings.idField, using: &generator))
        let status: TerminationStatus
        do {
            let result = try await Subprocess.run(
                configuration, input: .none, output: .sequence, error: .discarded
            ) { execution in
                outlet.connected()
                try await Self.read(execution.standardOutput, ids, outlet)
            }
            status = result.terminationStatus
        } catch let error as SubprocessError {
            try Task.checkCancellation()
            throw FeedError(.notStarted, Self.reason(error))
        }
        switch status {
        case .exited(let code): throw FeedError(.ended, "the program exited with status \(code)")
        case .signaled(let signal): throw FeedError(.ended, "the program was terminated by signal \(signal)")
        }
    }

    private static func read(
        _ stream: SubprocessOutputSequence, _ ids: SharedStreamIDs, _ outlet: FeedOutlet
    ) async throws {
        var assembler = LineAssembler(limit: outlet.maximumBytes)
        var pieces: [LineAssembler.Piece] = []
        for try await buffer in stream {
            assembler.append(buffer.withUnsafeBytes { Array($0) }) { pieces.append($0) }
            for piece in pieces { try await deliver(piece, ids, outlet) }
            pieces.removeAll(keepingCapacity: true)
        }
        assembler.finish { pieces.append($0) }
        for piece in pieces { try await deliver(piece, ids, outlet) }
    }

    private static func deliver(
        _ piece: LineAssembler.Piece, _ ids: SharedStreamIDs, _ outlet: FeedOutlet
    ) async throws {
        switch piece {
        case .tooLong:
            let limit = outlet.maximumBytes
            outlet.monitor.note(outlet.feed, FeedError(.tooLarge, "a line exceeds \(limit) bytes"))
        case .line(let bytes):
            let line = bytes.last == UInt8(ascii: "\r") ? Array(bytes.dropLast()) : bytes
            guard !line.isEmpty else { return }
            _ = try await outlet.deliver(outlet.item(id: ids.next(line), line))
        }
    }

    private var configuration: Subprocess.Configuration {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
        ]
        var variables: [Environment.Key: String] = [:]
        for (name, value) in settings.environment { variables[Environment.Key(stringLiteral: name)] = value }
        let name = settings.command.first ?? ""
        let file = name.hasPrefix("/") ? name : "\(settings.directory)/\(name)"
        return Subprocess.Configuration(
            executable: name.contains("/") ? .path(FilePath(file)) : .name(name),
            arguments: Arguments(Array(settings.command.dropFirst())), environment: .custom(variables),
            workingDirectory: FilePath(settings.directory), platformOptions: options)
    }

    private static func reason(_ error: SubprocessError) -> String {
        switch error.code {
        case .executableNotFound: "program not found"
        case .failedToChangeWorkingDirectory: "its working directory does not exist"
        default: "it could not be started"
        }
    }
}
