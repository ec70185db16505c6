/// The documents about the configuration, generated from the schema that the parser uses.
public enum ConfigurationDocuments {
    /// `config/schema.json`: JSON Schema, draft 2020-12.
    public static var schema: String { ConfigurationSchema.json }
    /// `docs/configuration.md`: the reference.
    public static var reference: String { ConfigurationSchema.reference }
}
