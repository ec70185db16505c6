#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One line of a worker's standard output, understood as far as the supervisor needs.
enum WorkerLine: Equatable {
    enum Status: String, Decodable {
        case starting, ready, draining
    }

    case status(Status)
    /// `{"event":…}`: not ours to read, handed on.
    case event
    case unrecognised

    private struct Fields: Decodable {
        var status: String?
        var event: String?
    }

    init(_ line: String) {
        guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(line.utf8)) else {
            self = .unrecognised
            return
        }
        if let status = fields.status.flatMap(Status.init(rawValue:)) {
            self = .status(status)
        } else {
            self = fields.status == nil && fields.event != nil ? .event : .unrecognised
        }
    }
}
