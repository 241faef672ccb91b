"""The model: xids, entities, definitions, inheritance, schema references and rules."""
