import TLSCodec
import Testing

@testable import MLS

/// Groups whose members negotiate application components, and change their data by AppDataUpdate.
extension Party {
    /// Rules of a group that uses components: public handshakes, and no proposals beyond those it needs.
    static let componentRules = GroupRules(
        handshakes: .publicOnly, proposals: [1, 2, 3, 7, 8, 10], requiresComponents: true, keepsSignatureKey: true)

    /// The leaf's dictionary: the supported components, and an empty list of SafeAAD components.
    static func leafDictionary(_ components: [ComponentID] = [0x0001, 0x8001, 0x8003]) -> AppDataDictionary {
        AppDataDictionary([
            .appComponents: ComponentsList(components).tlsEncoded(), .safeAAD: ComponentsList().tlsEncoded(),
        ])
    }

    /// The GroupContext's dictionary: the required components, and data of the components 0x8001 and 0x8003.
    static let groupDictionary = AppDataDictionary([
        .appComponents: ComponentsList([0x8001]).tlsEncoded(), 0x8001: [1], 0x8003: [3],
    ])

    static let requiredCapabilities = RequiredCapabilities(extensions: [6], proposals: [8, 10]).asExtension

    static func withComponents(
        _ count: Int = 3, rules: GroupRules = Party.componentRules,
        extensions: [Extension] = [Party.requiredCapabilities, Party.groupDictionary.asExtension]
    ) throws -> Party {
        try Party(
            count, extensions: extensions, configuration: GroupConfiguration(rules: rules),
            capabilities: Capabilities(cipherSuites: [1], extensions: [6, 0xF2EE], proposals: [8, 9, 10]),
            leafExtensions: [Party.leafDictionary().asExtension])
    }

    /// The dictionary in a member's GroupContext.
    func dictionary(of member: Int) throws -> AppDataDictionary {
        let dictionary = try AppDataDictionary(in: self.members[member].extensions)
        return try #require(dictionary)
    }
}

extension CommitRequest {
    /// A request that changes components' data and nothing else.
    static func changing(_ updates: AppDataUpdate...) -> CommitRequest {
        var request = CommitRequest()
        request.appDataUpdates = updates
        return request
    }
}
