import ArgumentParser
import PikaCore

/// The generation of a new group on the command line.
struct ProtocolArgument: ExpressibleByArgument {
    let groupProtocol: GroupProtocol

    init?(argument: String) {
        guard let groupProtocol = GroupProtocol(rawValue: argument) else { return nil }
        self.groupProtocol = groupProtocol
    }

    static var allValueStrings: [String] { GroupProtocol.allCases.map(\.rawValue) }
}
