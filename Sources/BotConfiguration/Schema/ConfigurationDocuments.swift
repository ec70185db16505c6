/// The documents about the configuration, generated from the schema that the parser uses.
package enum ConfigurationDocuments {
    /// `config/schema.json`: JSON Schema, draft 2020-12.
    package static var schema: String { ConfigurationSchema.json }
    /// `docs/configuration.md`: the reference.
    package static var reference: String { ConfigurationSchema.reference }
}
