/// Requirements of a GroupContext for every leaf of the group (RFC 9420 §7.3, §11.1; MLS extensions draft §5).
struct GroupRequirements {
    /// Every leaf supports the types of these GroupContext extensions.
    let extensions: [Extension]
    /// Capabilities that every leaf has; nil if none are required.
    let capabilities: RequiredCapabilities?
    /// Components that every leaf lists; nil unless the group's rules require components.
    let components: ComponentsList?

    /// Reads the requirements from GroupContext extensions.
    init(_ extensions: [Extension], _ rules: GroupRules) throws(MLSError) {
        self.extensions = extensions
        self.capabilities = try RequiredCapabilities(in: extensions)
        self.components =
            rules.requiresComponents
            ? try AppDataDictionary(in: extensions)?.list(of: .appComponents) ?? ComponentsList() : nil
    }
}
